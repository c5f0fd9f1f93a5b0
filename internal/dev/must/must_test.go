package must

import (
	"errors"
	"strconv"
	"testing"
)

// A recorder is a test that records why it ended.
type recorder struct {
	testing.TB
	ended []any
}

func (r *recorder) Helper()           {}
func (r *recorder) Fatal(args ...any) { r.ended = args }

func TestMust(t *testing.T) {
	var r recorder
	if Do(&r, nil); Get(strconv.Atoi("7"))(&r) != 7 || r.ended != nil {
		t.Errorf("without an error the test ended with %v", r.ended)
	}
	if Get(strconv.Atoi("x"))(&r); len(r.ended) != 1 || !errors.Is(r.ended[0].(error), strconv.ErrSyntax) {
		t.Errorf("the test ended with %v, want %v", r.ended, strconv.ErrSyntax)
	}
}
