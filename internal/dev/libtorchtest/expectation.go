package libtorchtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/dev/must"
)

// An Expectation is the expected result of an op of testdata/oplib.
type Expectation struct {
	Op, Code, On, Against string
	Ends                  string // how the op ends the process instead

	// Of an act at one of its places: its name, the kind of the places, and the healthy op of the same schema.
	Act, Placed, Twin string
	Of                string // the tensor that shows it: "" is a matrix, "slice", "vector"
	Trigger           string // the calls that show it
}

// places are the suffixes of an act's ops, their subjects and the name of the healthy act, by kind of place.
var places = map[string]struct {
	right string
	at    [][2]string
}{
	"read":     {"look", [][2]string{{"", "self"}, {"_list", "tensors"}, {"_given", "given"}}},
	"written":  {"zero", [][2]string{{"_", "self"}, {"_list_", "self"}, {"_given", "given"}}},
	"returned": {"copy", [][2]string{{"", "result"}, {"_list", "result"}}},
}

// Expectations reads expect.yaml and acts.yaml in a folder, whose entries describe an op, and an act at
// each of its places.
func Expectations(t testing.TB, folder string) (all []Expectation) {
	t.Helper()
	for _, name := range []string{"expect.yaml", "acts.yaml"} {
		var entries []Expectation
		decoder := yaml.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(filepath.Join(folder, name)))(t)))
		decoder.KnownFields(true)
		must.Do(t, decoder.Decode(&entries))
		for _, e := range entries {
			if e.Act == "" {
				all = append(all, e)
			}
			for _, p := range places[e.Placed].at {
				e.Op, e.On, e.Twin = e.Act+p[0], p[1], places[e.Placed].right+p[0]
				all = append(all, e)
			}
		}
	}
	return all
}
