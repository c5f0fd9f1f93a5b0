package libtorchtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An Expectation is what opassert says of an op of testdata/oplib.
type Expectation struct {
	Op, Code, On, Against string
	Ends                  string // how the op ends instead

	// Of an act at one of its places: its name, the sort of the places, and the
	// healthy op that has the same schema.
	Act, Placed, Twin string
}

// A line of expect.yaml is of an op, or of an act at each of its places.
var (
	opLine  = regexp.MustCompile(`^- \{op: (\S+), (?:code: (\S+), on: (\S+),(?: against: (\S+),)?|ends: (.+?),) trigger: .+\}$`)
	actLine = regexp.MustCompile(`^- \{act: (\S+), placed: (\S+), code: (\S+), trigger: .+\}$`)
)

// places are the ends of the names of an act's ops, and the subjects, by sort; and
// the name of the act that is right.
var places = map[string]struct {
	right string
	at    [][2]string
}{
	"read":     {"look", [][2]string{{"", "self"}, {"_list", "tensors"}, {"_given", "given"}}},
	"written":  {"zero", [][2]string{{"_", "self"}, {"_list_", "self"}, {"_given", "given"}}},
	"returned": {"copy", [][2]string{{"", "result"}, {"_list", "result"}}},
}

// Expectations returns those of expect.yaml in a folder, each act at each of its
// places.
func Expectations(t testing.TB, folder string) []Expectation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "expect.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Expectation
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if m := opLine.FindStringSubmatch(line); m != nil {
			all = append(all, Expectation{Op: m[1], Code: m[2], On: m[3], Against: m[4], Ends: m[5]})
		} else if m := actLine.FindStringSubmatch(line); m != nil {
			for _, p := range places[m[2]].at {
				all = append(all, Expectation{Op: m[1] + p[0], Code: m[3], On: p[1], Act: m[1], Placed: m[2], Twin: places[m[2]].right + p[0]})
			}
		} else if line != "" && line[0] != '#' {
			t.Fatalf("expect.yaml: expected an op or an act, found %s", line)
		}
	}
	return all
}
