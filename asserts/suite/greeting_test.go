package suite

import (
	"os/exec"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

func TestGreeting(t *testing.T) {
	if g := parseGreeting(speaking(7).String()); g != speaking(7) || g.understood() != nil {
		t.Errorf("%+v: %v", g, g.understood())
	}
	for text, version := range map[string]string{
		"0123 \"v1.2.3\" 7":                    "v1.2.3",
		"0123 \"v0.0.0 (../op assert)\" 7 new": "v0.0.0 (../op assert)",
		"7":                                    "another version", // from before greetings
		"":                                     "another version",
	} {
		err := parseGreeting(text).understood()
		if err == nil {
			t.Errorf("%q is understood", text)
			continue
		}
		for _, want := range []string{"the module requires opassert " + version + ",", "this command is " + ownVersion(), "go tool opassert", "go get -tool github.com/opassert/opassert/cmd/opassert@"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
		}
	}
}

// The version is that of opassert among the modules from which a program is built.
func TestVersionIn(t *testing.T) {
	own, other := &debug.Module{Path: "github.com/opassert/opassert", Version: "v1.2.3"}, &debug.Module{Path: "example.com/other", Version: "v4.5.6"}
	replaced := &debug.Module{Path: own.Path, Version: "v0.0.0", Replace: &debug.Module{Path: "../opassert"}}
	for _, tt := range []struct {
		program debug.BuildInfo
		want    string
		latest  bool
	}{
		{debug.BuildInfo{Main: *other, Deps: []*debug.Module{other, own}}, "v1.2.3", false},
		{debug.BuildInfo{Main: *own, Deps: []*debug.Module{other}}, "v1.2.3", false},
		{debug.BuildInfo{Main: *other, Deps: []*debug.Module{replaced}}, "v0.0.0 (../opassert)", true},
		{debug.BuildInfo{Main: debug.Module{Path: own.Path}}, "(devel)", true},
		{debug.BuildInfo{Main: *other}, "(devel)", true},
	} {
		got := versionIn(&tt.program)
		if at := published(got); got != tt.want || (at == "latest") != tt.latest || !tt.latest && at != got {
			t.Errorf("%q, to be fetched as %q; want %q", got, at, tt.want)
		}
	}
}

// The greeting of a worker built from another opassert is an error.
func TestWorkerOfAnotherVersion(t *testing.T) {
	for _, says := range []string{`ready 0123 "v1.2.3" 7`, "ready 7"} {
		_, err := List(func() *exec.Cmd {
			return exec.Command("sh", "-c", `key=$(cat <&4); echo "$key $0" >&3; cat`, says)
		})
		if err == nil || !strings.Contains(err.Error(), "go tool opassert") {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// A field that is added, removed or renamed changes the dialect.
func TestDialect(t *testing.T) {
	type inner struct{ A []int }
	of := func(v any) string {
		var b strings.Builder
		describe(&b, reflect.TypeOf(v), make(map[reflect.Type]bool))
		return b.String()
	}
	had := make(map[string]bool)
	for _, v := range []any{
		struct{ X int }{}, struct{ Y int }{}, struct{ X, Y int }{}, struct{ X string }{}, struct {
			X int `json:"x"`
		}{}, struct{ X *inner }{}, struct{ X map[string]inner }{}, struct{ X []inner }{},
	} {
		if text := of(v); had[text] {
			t.Errorf("%T is described as another one", v)
		} else {
			had[text] = true
		}
	}
	if text := of(struct{ X *inner }{}); !strings.Contains(text, "A ") {
		t.Errorf("fields of fields are not described: %s", text)
	}
}
