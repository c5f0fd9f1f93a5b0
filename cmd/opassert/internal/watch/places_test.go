package watch_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// placeSorts are the kinds of tensors that testdata/places.py makes.
var placeSorts = []string{
	"strided", "numpy", "grad", "undefined", "coo", "csr", "mkldnn", "nested", "quantized", "direct", "wrapper", "functional",
	"meta", "device", "inference", "fake", "symbolic",
}

// harmless has the places in which operators of places.cpp break nothing visible,
// with the reason: by kind of tensor, the operators.
var harmless = []struct{ sorts, ops, reason string }{
	{"meta", "OA007_memory_.*|OA009_.*|OA010_.*|OA015_.*", "a meta tensor has no bytes"},
	{"device", "OA007_memory_.*|OA005_static_.*", "the memory that is returned is the CPU's"},
}

// Every check of a run is broken in each kind of place, and found, or counted as a
// skip of that check for that operator.
func TestEveryPlaceOfARunIsPlanted(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		library := p.compiled(t, "places")
		for _, sort := range placeSorts {
			t.Run(sort, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "places.xml")
				o := run(t, []string{"-junit", file}, p.path, "testdata/places.py", library, sort)
				places(t, sort, o, skippedIn(t, file))
			})
		}
	})
}

var placeLine = regexp.MustCompile(`(?m)^(called|raised) (OA\d+)(\w+)`)

func places(t *testing.T, sort string, o outcome, skipped map[string]bool) {
	planted := make(map[string]bool)
	for _, f := range o.found {
		planted[strings.TrimPrefix(f.Op, "place::")+" "+f.Code] = true
	}
	ops, found := 0, 0
	for _, m := range placeLine.FindAllStringSubmatch(o.stdout, -1) {
		op, code := m[2]+m[3], m[2]
		ops++
		switch {
		case planted[op+" "+code]:
			found++
		case m[1] == "raised", breaksNothing(sort, op):
		case sort == "strided" && code != "OA001":
			t.Errorf("%s is not found", op)
		case !skipped[op+" "+code]:
			t.Errorf("%s is not found, and no %s of it is skipped", op, code)
		}
	}
	if ops < 100 || found == 0 && sort != "undefined" {
		t.Errorf("%d operators were called, and %d found\n%s%s", ops, found, o.stdout, o.stderr)
	}
}

// skippedIn returns the skipped checks, with their operators, in a JUnit report.
func skippedIn(t *testing.T, file string) map[string]bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Cases []struct {
			Op      string    `xml:"classname,attr"`
			Name    string    `xml:"name,attr"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	skipped := make(map[string]bool)
	for _, c := range report.Cases {
		if code, _, _ := strings.Cut(c.Name, " "); c.Skipped != nil {
			skipped[strings.TrimPrefix(c.Op, "place::")+" "+code] = true
		}
	}
	return skipped
}

func breaksNothing(sort, op string) bool {
	is := func(pattern, text string) bool { return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text) }
	return slices.ContainsFunc(harmless, func(u struct{ sorts, ops, reason string }) bool { return is(u.sorts, sort) && is(u.ops, op) })
}
