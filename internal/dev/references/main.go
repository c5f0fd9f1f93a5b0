// Command references counts the references between the files of each package: a file that uses a name of another file
// many times counts once. In any order, files that refer to each other have references up. It prints those, and
// compares their number with ceilings.txt. Run it at the repository's root:
//
//	go run ./internal/dev/references [-update] [PACKAGES]
//
// With -update it lowers the ceilings of packages that have fewer. A ceiling is only raised by hand.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// ceilingsFile is the file with the numbers, from the repository's root.
const ceilingsFile = "internal/dev/references/ceilings.txt"

func main() {
	update := flag.Bool("update", false, "lower the ceilings of packages that have fewer references up")
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *update); err != nil {
		fmt.Fprintln(os.Stderr, "references:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, patterns []string, update bool) error {
	text, err := os.ReadFile(ceilingsFile)
	if err != nil {
		return err
	}
	ceilings, err := parse(string(text))
	if err != nil {
		return err
	}
	named := len(patterns) > 0
	if !named {
		patterns = []string{"./..."}
	}
	all, err := load(".", patterns)
	if err != nil {
		return err
	}
	tallies := count(all)
	write(w, tallies)
	if update {
		return os.WriteFile(ceilingsFile, []byte(format(lower(ceilings, tallies, named))), 0o666)
	}
	if wrong := compare(ceilings, tallies); len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// parse reads lines of a package and its number.
func parse(text string) (map[string]int, error) {
	ceilings := make(map[string]int)
	for line := range strings.Lines(text) {
		var pkg string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d", &pkg, &n); err != nil {
			return nil, fmt.Errorf("%s: %q: want a package and a number", ceilingsFile, strings.TrimSpace(line))
		}
		ceilings[pkg] = n
	}
	return ceilings, nil
}

func format(ceilings map[string]int) string {
	var b bytes.Buffer
	for _, pkg := range slices.Sorted(maps.Keys(ceilings)) {
		fmt.Fprintf(&b, "%s %d\n", pkg, ceilings[pkg])
	}
	return b.String()
}

// compare returns what is wrong: packages with more or fewer references up than their ceiling, 0 for
// one without a line.
func compare(ceilings map[string]int, tallies []tally) (wrong []string) {
	for _, t := range tallies {
		switch up, most := len(t.up), ceilings[t.pkg]; {
		case up > most:
			wrong = append(wrong, fmt.Sprintf("%s: %d references go up, want at most %d: move declarations down",
				t.pkg, up, most))
		case up < most:
			wrong = append(wrong, fmt.Sprintf("%s: %d references go up, and its ceiling is %d: "+
				"go run ./internal/dev/references -update lowers it", t.pkg, up, most))
		}
	}
	return wrong
}

// lower returns the ceilings of the packages, each at most its number of references up. Those that were not counted
// keep theirs if only some were.
func lower(ceilings map[string]int, tallies []tally, some bool) map[string]int {
	lowered := make(map[string]int)
	if some {
		maps.Copy(lowered, ceilings)
	}
	for _, t := range tallies {
		delete(lowered, t.pkg)
		if n := min(len(t.up), ceilings[t.pkg]); n > 0 {
			lowered[t.pkg] = n
		}
	}
	return lowered
}

func write(w io.Writer, tallies []tally) {
	for _, t := range tallies {
		fmt.Fprintf(w, "%s: %d references between its files, %d of them up; %d to other packages\n",
			t.pkg, t.within, len(t.up), t.across)
		for _, r := range t.up {
			fmt.Fprintf(w, "\t%s refers to %s in %s\n", r.from.name, r.object, r.to.name)
		}
	}
}
