package emit

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
)

// A wrapper has its kernel's comment, which begins with the wrapper's name.
func TestKernelDoc(t *testing.T) {
	for doc, want := range map[string]string{
		"AddInto adds.\nTwice.": "// Add adds.\n// Twice.\n//", "Adds.": "// Adds.\n//", "": "",
	} {
		kernel := bind.Kernel{Doc: doc, Func: types.NewFunc(token.NoPos, nil, "AddInto", nil)}
		text := ""
		for _, line := range kernelDoc(bind.Wrapper{Name: "Add", Kernel: kernel}) {
			text += fmt.Sprintf("%#v", line) + "\n"
		}
		if got := strings.TrimSpace(text); got != want {
			t.Errorf("of %q: %q, want %q", doc, got, want)
		}
	}
}

// A function is on one line where gofmt leaves it there: it is short, and its statements are on a line each.
func TestClosure(t *testing.T) {
	short, long := statement{jen.Id("f").Call(), "f()"}, statement{jen.Id("f").Call(), strings.Repeat("f", 95)}
	for _, tt := range []struct {
		name  string
		lines []statement
		want  string
	}{
		{"short", []statement{short, short}, "func() { f(); f() }"},
		{"long", []statement{long}, "func() {\n\tf()\n}"},
		{"several lines", []statement{{jen.Id("f").Call(), ""}}, "func() {\n\tf()\n}"},
		{"six", []statement{short, short, short, short, short, short}, "func() {\n" + strings.Repeat("\tf()\n", 6) + "}"},
	} {
		if got := fmt.Sprintf("%#v", jen.Var().Id("f").Op("=").Add(closure(tt.lines))); got != "var f = "+tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A long text is a sum of literals that are as long as a line, at spaces.
func TestQuoted(t *testing.T) {
	word := strings.Repeat("w", 59)
	for text, want := range map[string]string{
		"short":                   `"short"`,
		word + " " + word:         `"` + word + ` " +` + "\n" + `"` + word + `"`,
		word + word:               `"` + word + word + `"`,
		word + "  " + word + " w": `"` + word + `  " +` + "\n" + `"` + word + ` w"`,
	} {
		if got := quoted(text, "\n"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
