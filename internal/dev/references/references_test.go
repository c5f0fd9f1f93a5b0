package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// A name counts once for each file that uses it, and as few references as possible go up.
func TestCount(t *testing.T) {
	all := must.Get(load(".", []string{"./testdata/upper", "./testdata/lower"}))(t)
	var got strings.Builder
	write(&got, count(all))
	const want = `github.com/opassert/opassert/internal/dev/references/testdata/upper: 4 references between its files, 1 of them up; 3 to other packages
	second.go refers to A in first.go
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownPackage(t *testing.T) {
	if all, err := load(".", []string{"./testdata/missing"}); err == nil || len(all) > 0 {
		t.Errorf("%v, error %v", all, err)
	}
}

// An order without references up is found, however far it is from the alphabetical one.
func TestUpward(t *testing.T) {
	var chain []reference
	for i := range 9 {
		chain = append(chain, reference{file{"p", string(rune('j' - i))}, file{"p", string(rune('i' - i))}, "x"})
	}
	if up := upward(chain); len(up) > 0 {
		t.Errorf("%v go up", up)
	}
	circle := append(chain, reference{chain[8].to, chain[0].from, "y"})
	if up := upward(circle); len(up) != 1 {
		t.Errorf("in a cycle %v go up", up)
	}
}

// No package has more references up than its ceiling, and none fewer: ceilings are only lowered.
func TestCeilings(t *testing.T) {
	t.Chdir("../../..")
	must.Do(t, run(io.Discard, []string{"./..."}, false))
}

// A package with more than its ceiling is wrong, and one with fewer; an update lowers alone.
func TestCompare(t *testing.T) {
	up := func(pkg string, n int) tally { return tally{pkg: pkg, up: make([]reference, n)} }
	tallies := []tally{up("p/even", 3), up("p/fewer", 1), up("p/more", 5), up("p/new", 1), up("p/none", 0)}
	const text = "p/even 3\np/fewer 2\np/gone 7\np/more 4\n"
	ceilings := must.Get(parse(text))(t)
	if diff := cmp.Diff(text, format(ceilings)); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"p/fewer: 1 references go up, and its ceiling is 2: go run ./internal/dev/references -update lowers it",
		"p/more: 5 references go up, want at most 4: move declarations down",
		"p/new: 1 references go up, want at most 0: move declarations down",
	}
	if diff := cmp.Diff(want, compare(ceilings, tallies)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("p/even 3\np/fewer 1\np/more 4\n", format(lower(ceilings, tallies, false))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("p/even 3\np/fewer 1\np/gone 7\np/more 4\n", format(lower(ceilings, tallies[1:2], true))); diff != "" {
		t.Errorf("with the name of one package: %s", diff)
	}
	if _, err := parse("p/even\n"); err == nil || !strings.Contains(err.Error(), "want a package and a number") {
		t.Errorf("a line without a number: %v", err)
	}
}
