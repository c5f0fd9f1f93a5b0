package watch_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// placeSorts are the sorts of tensors that testdata/places.py makes.
var placeSorts = []string{
	"strided", "numpy", "grad", "undefined", "coo", "csr", "mkldnn", "nested", "quantized", "direct", "wrapper", "functional",
	"meta", "device", "inference", "fake", "symbolic",
}

// unbroken says in which places an operator of places.cpp breaks nothing, or
// nothing that shows, and why. Each is a sort and the operators of it.
var unbroken = []struct{ sorts, ops, reason string }{
	{"undefined", ".*", "there is no tensor, and nothing to break"},
	{"meta", "OA007_memory_.*|OA009_.*|OA010_.*", "a meta tensor has no bytes"},
	{"wrapper|fake|symbolic", "OA007_.*_of_(dict|lists|tuple)|OA007_of_(dict|lists|tuple)", "the dispatcher does not look for subclasses there, and what is inside the result is the class's own"},
	{"device", "OA007_memory_.*|OA005_static_.*", "the memory that is returned is the CPU's"},
}

// Every check that a run judges is broken in each sort of place, and found, or
// counted as a skip of that check, or its calls as calls without content or of
// fakes.
func TestEveryPlaceOfARunIsPlanted(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		if !newer(p.torch.Number()) {
			t.Skip("tensors of some sorts are made as newer versions make them")
		}
		library := p.compiled(t, "places")
		for _, sort := range placeSorts {
			t.Run(sort, func(t *testing.T) { places(t, sort, run(t, nil, p.path, "testdata/places.py", library, sort)) })
		}
	})
}

var placeLine = regexp.MustCompile(`(?m)^(called|raised) (OA\d+)(\w+)`)

func places(t *testing.T, sort string, o outcome) {
	planted := make(map[string]bool)
	for _, f := range o.found {
		planted[strings.TrimPrefix(f.Op, "place::")+" "+f.Code] = true
	}
	ops, found := 0, 0
	for _, m := range placeLine.FindAllStringSubmatch(o.stdout, -1) {
		op, text := m[2]+m[3], m[2]
		ops++
		switch code, _ := asserts.ParseCode(text); {
		case planted[op+" "+text]:
			found++
		case m[1] == "raised", breaksNothing(sort, op):
		case sort == "strided" && text != "OA001":
			t.Errorf("%s is not found", op)
		case strings.Contains(o.stderr, "  skipped "+text+" "), strings.Contains(o.stderr, " calls were answered by fakes"):
		case code.Level() >= asserts.Content || strings.Contains(op, "memory"):
			if !strings.Contains(o.stderr, ", without content\n") {
				t.Errorf("%s is not found, and no content is skipped", op)
			}
		default:
			t.Errorf("%s is not found, and no %s is skipped", op, text)
		}
	}
	if ops < 100 || found == 0 && sort != "undefined" {
		t.Errorf("%d operators were called, and %d found\n%s%s", ops, found, o.stdout, o.stderr)
	}
}

func breaksNothing(sort, op string) bool {
	is := func(pattern, text string) bool { return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text) }
	return slices.ContainsFunc(unbroken, func(u struct{ sorts, ops, reason string }) bool { return is(u.sorts, sort) && is(u.ops, op) })
}
