package conformance

import (
	"bytes"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	table, err := Load("1.13.1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(table.Ops), 2952; got != want {
		t.Errorf("%d ops, want %d", got, want)
	}
	if got, want := bytes.Count(table.Source, []byte("- func: ")), 2493; got != want {
		t.Errorf("%d entries in the source, want %d", got, want)
	}
	paths := map[string]int{}
	for _, op := range table.Ops {
		paths[op.Path]++
		if !strings.HasPrefix(op.Schema, op.Op+"(") {
			t.Errorf("%s has the schema %s", op.Op, op.Schema)
		}
	}
	for path, want := range map[string]int{"variable_type": 1366, "fallback": 732, "composite_implicit": 839, "manual": 15} {
		if paths[path] != want {
			t.Errorf("%d ops on the path %s, want %d", paths[path], path, want)
		}
	}
}

func TestRowsPrintBack(t *testing.T) {
	for _, version := range Versions {
		rows, err := unzip(version + "/ops.tsv.gz")
		if err != nil {
			t.Fatal(err)
		}
		table, err := Load(version)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(rows), "\n")
		for i, facts := range table.Ops {
			if row, err := facts.Row(); err != nil || row != lines[i] {
				t.Errorf("%s:%d:\n%s\nprints back as\n%s\n%v", version, i+1, lines[i], row, err)
			}
		}
	}
}

func TestParseRowRefuses(t *testing.T) {
	for _, row := range []string{
		"",
		"add\tfunctional\t\t\tvariable_type\t\tzz self\tadd() -> ()",
		"add\tfunctional\t\t\tvariable_type\t\tii\tadd() -> ()",
	} {
		if facts, err := parseRow(row); err == nil {
			t.Errorf("parseRow(%q) = %+v, want an error", row, facts)
		}
	}
}
