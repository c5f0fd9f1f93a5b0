package cli

import (
	"cmp"
	"flag"
	"strings"
	"testing"
)

// Each flag has a row, each row a flag, and check not more flags than the ceiling.
func TestFlagRows(t *testing.T) {
	const ceiling = 32
	unused := make(map[string]bool)
	for _, row := range flagRows {
		unused[row.name] = true
	}
	for _, c := range commands {
		n := 0
		flagsOf(c).VisitAll(func(f *flag.Flag) {
			n++
			row := rowOf(c.name, f.Name)
			if row == nil || row.help != f.Usage {
				t.Fatalf("%s -%s has no row", c.name, f.Name)
			}
			delete(unused, row.name)
		})
		if n > ceiling {
			t.Errorf("%s has %d flags, at most %d", c.name, n, ceiling)
		}
	}
	if len(unused) > 0 {
		t.Errorf("rows of no flag: %v", unused)
	}
}

// The help of a command fits on a screen: what it does in at most four lines, up to four examples, and a line for
// each flag.
func TestHelpFitsAScreen(t *testing.T) {
	const columns = 110
	lines := map[string]int{"check": 50, "": 40}
	for _, c := range commands {
		var help strings.Builder
		inv := newInvocation(c, []string{"-h"}, &help, &help)
		inv.status(inv.run(inv))
		most := cmp.Or(lines[c.name], lines[""])
		if n := strings.Count(help.String(), "\n"); n > most {
			t.Errorf("%s -h has %d lines, at most %d:\n%s", c.name, n, most, &help)
		}
		if c.name == "check" && !(strings.Contains(help.String(), "\n  -n number ") && strings.Contains(help.String(), "\n  -v  ")) {
			t.Errorf("check -h does not list -n with its value and -v without one:\n%s", &help)
		}
		for line := range strings.Lines(help.String()) {
			if len(line) > columns+1 {
				t.Errorf("%s -h has a line of %d columns, at most %d: %s", c.name, len(line)-1, columns, line)
			}
		}
		text, examples, _ := strings.Cut(helpText(c.name), "\n\n")
		if strings.Count(text, "\n") > 3 || strings.Count(examples, "\n") > 4 || !strings.HasPrefix(examples, "  ") {
			t.Errorf("the text of %s is not four lines, a blank one and at most four examples:\n%s", c.name, helpText(c.name))
		}
	}
}
