//go:build !libtorch

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/opassert/opassert/cmd/opassert/internal/cli"
)

// Without libtorch the commands that need it say how to have it.
func TestWithoutLibtorch(t *testing.T) {
	for _, args := range [][]string{{"check"}, {"dump"}, {"allow", "audit", "-allow", "opassert"}, {"check", "-lib", "x.so"}} {
		var out, err bytes.Buffer
		if status := cli.Main(args, &out, &err); status != 2 {
			t.Errorf("%v ends with status %d", args, status)
		}
		if !strings.Contains(err.String(), "go build -tags libtorch") {
			t.Errorf("%v says %s", args, err.String())
		}
	}
}
