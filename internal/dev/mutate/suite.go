package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A testSuite is the tests that should notice a mutant.
type testSuite struct {
	parts   []testPart
	scratch string // for the tests' files: mutants may leave some
}

// A testPart is some tests of a package.
type testPart struct {
	path, dir, pkg string
	run, skip      string // regular expressions of the tests; "" is all, or none
	took, limit    time.Duration
	reached        map[string]bool // the conditions that the tests evaluate, with their values: "12 true"
}

func build(packages []string, skip, overlay, dir string) (*testSuite, error) {
	s := &testSuite{scratch: filepath.Join(dir, "scratch")}
	for i, pkg := range packages {
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", pkg, err)
		}
		p := testPart{path: filepath.Join(dir, strconv.Itoa(i)+".test"), dir: strings.TrimSpace(string(out)),
			pkg: pkg, skip: skip, limit: time.Hour}
		cmd := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", p.path, pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w\n%s", pkg, err, out)
		}
		s.parts = append(s.parts, p)
	}
	return s, os.Mkdir(s.scratch, 0o777)
}

// measure runs the tests on the source, where they must pass. It separates the slow tests from the others and from each
// other, and notes which conditions each part evaluates and how long it takes.
func (s *testSuite) measure() error {
	var parts []testPart
	for _, p := range s.parts {
		out, err := s.command(context.Background(), p, "-test.v").Output()
		if err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant:\n%s", p.pkg, out)
		}
		parts = append(parts, p.split(string(out))...)
	}
	s.parts = parts
	for i := range s.parts {
		p := &s.parts[i]
		log := filepath.Join(s.scratch, "reached")
		cmd := s.command(context.Background(), *p)
		cmd.Env = append(cmd.Env, recorder+"="+log)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant, when only %q run, without %q:\n%s",
				p.pkg, p.run, p.skip, out)
		}
		p.took = time.Since(start)
		p.limit = 10*time.Second + 10*p.took
		text, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		p.reached = make(map[string]bool)
		for line := range strings.Lines(string(text)) {
			p.reached[strings.TrimSpace(line)] = true
		}
		os.Remove(log)
	}
	return nil
}

var passed = regexp.MustCompile(`(?m)^(?:    )?--- PASS: (\S+) \((\d+\.\d+)s\)$`)

// split returns the fast tests of p as one part, and as separate parts each slow test, and each slow subtest that runs
// in parallel and so needs no other. output is that of all tests of p.
func (p testPart) split(output string) []testPart {
	slow := map[string][]string{} // the slow subtests of tests that are slow or have some
	for _, m := range passed.FindAllStringSubmatch(output, -1) {
		if seconds, err := strconv.ParseFloat(m[2], 64); err != nil || seconds <= 0.05 {
			continue
		}
		test, sub, _ := strings.Cut(m[1], "/")
		subtests := slow[test]
		if sub != "" && strings.Contains(output, "=== PAUSE "+m[1]+"\n") {
			subtests = append(subtests, exactly(m[1]))
		}
		slow[test] = subtests
	}
	parts := []testPart{p}
	for _, test := range slices.Sorted(maps.Keys(slow)) {
		rest := p
		rest.run, rest.skip = exactly(test), either(append([]string{p.skip}, slow[test]...)...)
		parts = append(parts, rest)
		for _, sub := range slow[test] {
			one := p
			one.run = sub
			parts = append(parts, one)
		}
		parts[0].skip = either(parts[0].skip, exactly(test))
	}
	return parts
}

// exactly returns the expression of a test or subtest.
func exactly(test string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
}

func either(expressions ...string) string {
	return strings.Join(slices.DeleteFunc(expressions, func(e string) bool { return e == "" }), "|")
}

// An outcome is the result of the tests on a mutant.
type outcome struct {
	failed  string // the first package whose tests failed
	late    bool   // it timed out
	reached bool   // a test evaluates the condition
}

// run runs the tests that may notice a mutant, fast ones first, of these those of its
// own package first, as the most likely.
func (s *testSuite) run(m *mutant) outcome {
	parts := slices.Clone(s.parts)
	slices.SortStableFunc(parts, func(a, b testPart) int {
		return cmp.Or(rank(a, m)-rank(b, m), cmp.Compare(a.took, b.took))
	})
	var o outcome
	for _, p := range parts {
		o.reached = o.reached || p.reached[fmt.Sprint(m.id, " true")] || p.reached[fmt.Sprint(m.id, " false")]
		if !p.mayNotice(m) {
			continue
		}
		if failed, late := s.runOne(p, m); failed {
			return outcome{p.pkg, late, true}
		}
	}
	return o
}

func rank(p testPart, m *mutant) int {
	switch {
	case p.run != "":
		return 2
	case p.dir != filepath.Dir(m.file):
		return 1
	}
	return 0
}

// mayNotice reports whether the tests evaluate the condition to a value that the mutant changes.
func (p testPart) mayNotice(m *mutant) bool {
	asked := func(came string) bool { return p.reached[fmt.Sprint(m.id, " ", came)] }
	return m.way != "true" && asked("true") || m.way != "false" && asked("false")
}

func (s *testSuite) runOne(p testPart, m *mutant) (failed, late bool) {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	cmd := s.command(ctx, p)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %s", variable, m.id, m.way))
	return cmd.Run() != nil, ctx.Err() != nil
}

func (s *testSuite) command(ctx context.Context, p testPart, flags ...string) *exec.Cmd {
	flags = append(flags, "-test.short", "-test.failfast", "-test.run="+p.run, "-test.skip="+p.skip)
	cmd := exec.CommandContext(ctx, p.path, flags...)
	cmd.Dir = p.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "TMPDIR="+s.scratch)
	return cmd
}
