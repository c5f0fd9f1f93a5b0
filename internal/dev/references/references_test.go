// Package references counts the references between the files of packages: a file that
// uses a name of another file many times counts once. In any order, files that refer
// to each other have references up.
package references

import (
	"fmt"
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
	write(&got, all)
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

// The suite's packages: a case passes from design to report once, so few references
// between files go up.
func TestRoomsOfTheSuite(t *testing.T) {
	all := must.Get(load("../../..", []string{"./asserts/suite/..."}))(t)
	rooms, up := count(all), 0
	for _, room := range rooms {
		up += len(room.up)
	}
	if len(rooms) < 5 {
		t.Errorf("the suite has %d packages", len(rooms))
	}
	const most = 6
	if up > most {
		var list strings.Builder
		write(&list, all)
		t.Errorf("%d references go up, want at most %d: move declarations down\n%s", up, most, &list)
	}
}

func write(w io.Writer, all []reference) {
	for _, c := range count(all) {
		fmt.Fprintf(w, "%s: %d references between its files, %d of them up; %d to other packages\n", c.pkg, c.within, len(c.up), c.across)
		for _, r := range c.up {
			fmt.Fprintf(w, "\t%s refers to %s in %s\n", r.from.name, r.object, r.to.name)
		}
	}
}
