package schema_test

import (
	"errors"
	"flag"
	"fmt"
	"go/scanner"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

var update = flag.Bool("update", false, "update what is said of the schemas in testdata/demands.txtar")

// quiet are files that torchgen takes and something is said of.
var quiet = map[string]bool{"autogen_exists": true, "delegate_elsewhere_alone": true}

// Of whatever torchgen refuses something is said, at its place, and nothing of
// what it takes.
func TestDemands(t *testing.T) {
	const path = "testdata/demands.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table, err := conformance.Load("2.15.0")
	if err != nil {
		t.Fatal(err)
	}
	tags, err := schema.ParseTags("tags.yaml", table.Tags)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range archive.Files {
		verdict, text, _ := strings.Cut(string(f.Data), "\n")
		var source, want strings.Builder
		for line := range strings.Lines(text) {
			if said, ok := strings.CutPrefix(line, "# "); ok {
				want.WriteString(said)
			} else {
				source.WriteString(line)
			}
		}
		got := said(source.String(), tags)
		if refused := verdict == "# torchgen refuses it"; refused != (got != "") && !quiet[f.Name] {
			t.Errorf("%s: %s, and here is said %q", f.Name, verdict, got)
		}
		if *update {
			text := verdict + "\n" + source.String()
			for line := range strings.Lines(got) {
				text += "# " + line
			}
			archive.Files[i].Data = []byte(text)
		} else if diff := cmp.Diff(want.String(), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// said returns the errors and the warnings of a file, a line each.
func said(source string, tags *schema.TagSet) string {
	file, err := schema.Parse("x.yaml", []byte(source), tags)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		list = file.Warnings
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%d:%d: %s\n", e.Pos.Line, e.Pos.Column, e.Msg)
	}
	return b.String()
}

// PyTorch's own files are whole.
func TestOwnFilesAreWhole(t *testing.T) {
	for _, version := range conformance.Versions {
		table, err := conformance.Load(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range parseTable(t, table).Warnings {
			t.Errorf("%s: %v", version, w)
		}
	}
}
