//go:build cgo && unix

package regex

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestMatch(t *testing.T) {
	preserve.CheckReleased(t)
	for expr, want := range map[string]bool{"^ab+c$": true, "b{3}": false, "(a|x)b": true} {
		re := must.Get(Compile(expr))(t)
		defer re.Close()
		if got, err := re.Match("abbc"); got != want || err != nil {
			t.Errorf("%s: %t, %v", expr, got, err)
		}
	}
	if _, err := Compile("("); err == nil {
		t.Error("an unmatched parenthesis compiles")
	}
}

// A report is a test that records its output.
type report struct {
	*testing.T
	ends []func()
	text strings.Builder
}

func (r *report) Error(args ...any) { fmt.Fprintln(&r.text, args...) }
func (r *report) Cleanup(f func())  { r.ends = append(r.ends, f) }
func (r *report) end() string {
	for _, f := range r.ends {
		f()
	}
	return r.text.String()
}

var kept []*Regexp

// compileAndKeep makes handles that a user forgot to close.
func compileAndKeep(n int) {
	for range n {
		re, _ := Compile("a")
		kept = append(kept, re)
	}
}

func TestFindsWhatAUserForgot(t *testing.T) {
	if !asserts.Enabled {
		t.Skip("handles are followed in the debug build: go test -tags opassert")
	}
	forgot := func(check func(preserve.TB), use func()) string {
		r := &report{T: t}
		check(r)
		use()
		return r.end()
	}
	for _, tt := range []struct {
		name string
		got  string
		want []string
	}{
		{"leaked", forgot(preserve.CheckLeaks, func() { compileAndKeep(3) }), []string{"OA107 leak  3 handles of regex.Regexp", "regex.compileAndKeep"}},
		{"left to the collector", forgot(preserve.CheckReleased, func() { Compile("a"); runtime.GC() }), []string{"OA107 leak  1 handle of regex.Regexp"}},
		{"closed twice", forgot(preserve.CheckLeaks, func() { re, _ := Compile("a"); re.Close(); re.Close() }), []string{"OA109 double-release", "released again by"}},
		{"used after Close", forgot(preserve.CheckLeaks, func() { re, _ := Compile("a"); re.Close(); re.Match("a") }), []string{"OA106 use-after-dealloc", "used by", "regex_test.go"}},
	} {
		for _, want := range tt.want {
			if !strings.Contains(tt.got, want) {
				t.Errorf("%s: the report does not say %q:\n%s", tt.name, want, tt.got)
			}
		}
	}
	if got := forgot(preserve.CheckLeaks, func() { Compile("a") }); got != "" {
		t.Errorf("unreachable handles are leaks:\n%s", got)
	}
	for _, re := range kept {
		re.Close()
	}
}
