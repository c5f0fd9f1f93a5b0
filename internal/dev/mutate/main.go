// Command mutate measures how good the tests of some source files are: it breaks
// every condition in them, one at a time, and checks whether a test fails.
//
//	go build -C internal/dev/mutate -o /tmp/mutate . && /tmp/mutate -tests ./asserts asserts/judge.go
//
// It is a module of its own: only CI uses it.
//
// A condition is a comparison, an operand of && or || or !, or the condition of an if, a for or a case. Each is
// negated, replaced by true and by false: this also drops it from the && or || around it, and removes a ! before it.
// All mutants are compiled at once, into test binaries that an environment variable switches, so a mutant costs one run
// of the tests that evaluate its condition to another value, the fast ones first.
//
// A mutant that no test can distinguish from the source is excused by a comment on
// the condition's line, with the mutant and the reason:
//
//	//mutate:equivalent false: only saves time
//
// It applies to every condition that begins on the line; each such mutant must survive, or time out.
//
// With -part K/N, only the conditions of a part are broken: N runs with K from 1 to N break all of them.
//
// The exit status is 1 when another mutant survives, or an excused one is killed.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
)

func main() {
	name := flag.String("name", "mutate", "the `name` of the files, for the score")
	tests := flag.String("tests", "", "the `packages` whose tests must notice, separated by commas, the fastest first")
	skip := flag.String("skip", "", "a regular `expression` of tests to leave out, such as those of inlining, "+
		"which every mutant changes")
	part := share{1, 1}
	flag.Var(&part, "part", "break the Kth of N parts of the conditions: `K/N`")
	flag.Parse()
	score, err := measure(flag.Args(), strings.Split(*tests, ","), *skip, part)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	score.print(os.Stdout, *name)
	if score.lacks() {
		os.Exit(1)
	}
}

// A score counts the mutants by their outcomes.
type score struct {
	conditions, killed, late     int      // late: killed by the time limit
	survived, equivalent, errant []mutant // errant: excused, but killed
	unreached                    int      // survived, as no test evaluates the condition
}

func (s *score) lacks() bool { return len(s.survived)+len(s.errant) > 0 }

func (s *score) print(w io.Writer, name string) {
	for _, m := range s.survived {
		fmt.Fprintf(w, "%v: survived as %s: %s\n", m.pos, m.way, m.text)
	}
	for _, m := range s.errant {
		fmt.Fprintf(w, "%v: killed as %s, so not equivalent: %s\n", m.pos, m.way, m.text)
	}
	for _, m := range s.equivalent {
		fmt.Fprintf(w, "%v: equivalent as %s: %s\n", m.pos, m.way, m.excuse)
	}
	killed := s.killed + len(s.errant)
	part := 100 * float64(killed) / float64(max(1, killed+len(s.survived)))
	fmt.Fprintf(w, "%s: %d conditions, %d mutants killed, %d of them by the time limit, %d equivalent, "+
		"%d survived, %d of them unreached: score %.1f%%\n",
		name, s.conditions, killed, s.late, len(s.equivalent), len(s.survived), s.unreached, part)
}

// measure runs the tests on every mutant of a part of the files' conditions.
func measure(files, packages []string, skip string, part share) (*score, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)

	conditions, overlay, err := instrument(files, dir)
	if err != nil {
		return nil, err
	}
	suite, err := build(packages, skip, overlay, dir)
	if err != nil {
		return nil, err
	}
	if err := suite.measure(); err != nil {
		return nil, err
	}
	mutants := mutantsOf(conditions, part)
	outcomes := make([]outcome, len(mutants))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range next {
				outcomes[i] = suite.run(&mutants[i])
			}
		})
	}
	for i := range mutants {
		select {
		case next <- i:
		case <-interrupted:
			return nil, fmt.Errorf("interrupted")
		}
	}
	close(next)
	workers.Wait()

	s := &score{conditions: len(mutants) / len(ways)}
	for i, m := range mutants {
		noticed, late, excused := outcomes[i].failed != "", outcomes[i].late, m.excuse != ""
		switch {
		case excused && (late || !noticed): // a mutant that only costs time may time out on a busy machine
			s.equivalent = append(s.equivalent, m)
		case excused:
			s.errant = append(s.errant, m)
		case noticed:
			s.killed++
			if late {
				s.late++
			}
		default:
			s.survived = append(s.survived, m)
			if !outcomes[i].reached {
				s.unreached++
			}
		}
	}
	return s, nil
}
