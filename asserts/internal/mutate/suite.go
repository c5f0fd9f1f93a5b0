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
	scratch  string // where tests put files; those of a broken one stay
	timeout  time.Duration
}

// A binary is the compiled tests of a package.
type binary struct{ path, dir, pkg string }

func build(packages []string, overlay, dir string, timeout time.Duration) (*suite, error) {
	s := &suite{scratch: filepath.Join(dir, "scratch"), timeout: timeout}
	for i, pkg := range packages {
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s: %w", pkg, err)
		}
		b := binary{filepath.Join(dir, strconv.Itoa(i)+".test"), strings.TrimSpace(string(out)), pkg}
		cmd := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", b.path, pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w\n%s", pkg, err, out)
		}
		s.binaries = append(s.binaries, b)
	}
	return s, os.Mkdir(s.scratch, 0o777)
}

// failing gives the first package whose tests fail under the mutant, or "".
// The condition's own package comes first: its tests are the likely ones.
func (s *suite) failing(m *mutant) string {
	for _, own := range []bool{true, false} {
		for _, b := range s.binaries {
			if own == (m != nil && b.dir == filepath.Dir(m.file)) && !s.passes(b, m) {
				return b.pkg
			}
		}
	}
	return ""
}

func (s *suite) passes(b binary, m *mutant) bool {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, "-test.short", "-test.failfast")
	cmd.Dir = b.dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "TMPDIR="+s.scratch)
	if m != nil {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %s", variable, m.id, m.way))
	}
	return cmd.Run() == nil
}
