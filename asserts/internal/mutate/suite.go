package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A suite is the tests that should notice a mutant.
type suite struct {
	binaries []binary
	skip     string // a regular expression of the tests that are left out; none when empty
	scratch  string // where tests put files; those of a broken one stay
}

// A binary is the compiled tests of a package.
type binary struct {
	path, dir, pkg string
	limit          time.Duration // how long they may run before a mutant counts as noticed
}

func build(packages []string, skip, overlay, dir string) (*suite, error) {
	s := &suite{skip: skip, scratch: filepath.Join(dir, "scratch")}
	for i, pkg := range packages {
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", pkg, err)
		}
		b := binary{path: filepath.Join(dir, strconv.Itoa(i)+".test"), dir: strings.TrimSpace(string(out)), pkg: pkg, limit: time.Hour}
		cmd := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", b.path, pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w\n%s", pkg, err, out)
		}
		s.binaries = append(s.binaries, b)
	}
	return s, os.Mkdir(s.scratch, 0o777)
}

// warm runs the tests on the source, where they must pass, and takes the time
// that they need as the measure of too long.
func (s *suite) warm() error {
	for i := range s.binaries {
		b := &s.binaries[i]
		start := time.Now()
		if o := s.runOne(*b, nil); o.failed != "" {
			return fmt.Errorf("the tests of %s fail without a mutant", b.pkg)
		}
		b.limit = 10*time.Second + 10*time.Since(start)
	}
	return nil
}

// An outcome is what the tests made of a mutant.
type outcome struct {
	failed string // the first package whose tests failed
	late   bool   // it did not fail but ran for too long
}

// run runs the tests on a mutant, those of its own package first: they are the
// likely ones to notice.
func (s *suite) run(m *mutant) outcome {
	for _, own := range []bool{true, false} {
		for _, b := range s.binaries {
			if own != (b.dir == filepath.Dir(m.file)) {
				continue
			}
			if o := s.runOne(b, m); o.failed != "" {
				return o
			}
		}
	}
	return outcome{}
}

func (s *suite) runOne(b binary, m *mutant) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, "-test.short", "-test.failfast", "-test.skip="+s.skip)
	cmd.Dir = b.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "TMPDIR="+s.scratch)
	if m != nil {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %s", variable, m.id, m.way))
	}
	if cmd.Run() == nil {
		return outcome{}
	}
	return outcome{b.pkg, ctx.Err() != nil}
}
