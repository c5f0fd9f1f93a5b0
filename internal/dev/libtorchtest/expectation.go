package libtorchtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An Expectation is the expected result of an op of testdata/oplib.
type Expectation struct {
	Op, Code, On, Against string
	Ends                  string // how the op ends the process instead

	// Of an act at one of its places: its name, the kind of the places, and the
	// healthy op of the same schema.
	Act, Placed, Twin string
	Of                string // the tensor that shows it: "" is a matrix, "slice", "vector"
}

// A line of expect.yaml describes an op, one of acts.yaml an act at each of its places.
var (
	opLine  = regexp.MustCompile(`^- \{op: (\S+), (?:code: (\S+), on: (\S+),(?: against: (\S+),)?|ends: (.+?),) trigger: .+\}$`)
	actLine = regexp.MustCompile(`^- \{act: (\S+), placed: (\S+), code: (\S+), of: "(\w*)", trigger: .+\}$`)
)

// places are the suffixes of an act's ops, their subjects and the name of the healthy
// act, by kind of place.
var places = map[string]struct {
	right string
	at    [][2]string
}{
	"read":     {"look", [][2]string{{"", "self"}, {"_list", "tensors"}, {"_given", "given"}}},
	"written":  {"zero", [][2]string{{"_", "self"}, {"_list_", "self"}, {"_given", "given"}}},
	"returned": {"copy", [][2]string{{"", "result"}, {"_list", "result"}}},
}

// Expectations reads expect.yaml and acts.yaml in a folder.
func Expectations(t testing.TB, folder string) []Expectation {
	t.Helper()
	var all []Expectation
	for _, name := range []string{"expect.yaml", "acts.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			of := expectations(line)
			if len(of) == 0 {
				t.Fatalf("%s: expected an op or an act, found %s", name, line)
			}
			all = append(all, of...)
		}
	}
	return all
}

// expectations reads a line.
func expectations(line string) []Expectation {
	if m := opLine.FindStringSubmatch(line); m != nil {
		return []Expectation{{Op: m[1], Code: m[2], On: m[3], Against: m[4], Ends: m[5]}}
	}
	var all []Expectation
	if m := actLine.FindStringSubmatch(line); m != nil {
		for _, p := range places[m[2]].at {
			all = append(all, Expectation{Op: m[1] + p[0], Code: m[3], On: p[1], Act: m[1], Placed: m[2], Twin: places[m[2]].right + p[0], Of: m[4]})
		}
	}
	return all
}
