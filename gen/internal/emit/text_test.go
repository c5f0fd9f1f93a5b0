package emit

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/gen/internal/bind"
)

// A wrapper has its kernel's comment, which begins with the wrapper's name.
func TestKernelDoc(t *testing.T) {
	for doc, want := range map[string]string{
		"AddInto adds.\nTwice.": "// Add adds.\n// Twice.\n//", "Adds.": "// Adds.\n//", "": "",
	} {
		kernel := bind.Kernel{Doc: doc, Func: types.NewFunc(token.NoPos, nil, "AddInto", nil)}
		got := strings.Join(kernelDoc(bind.Wrapper{Name: "Add", Kernel: kernel}), "\n")
		if got != want {
			t.Errorf("of %q: %q, want %q", doc, got, want)
		}
	}
}

// A function is on one line where gofmt leaves it there: it is short, and its statements are on a line each.
func TestClosure(t *testing.T) {
	long, lines := strings.Repeat("f", 95), "for {\n\t\t\tf()\n\t\t}"
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"short", []string{"f()", "f()"}, "func() { f(); f() }"},
		{"longest", []string{long[1:]}, "func() { " + long[1:] + " }"},
		{"long", []string{long}, "func() {\n\t\t" + long + "\n\t}"},
		{"several lines", []string{lines}, "func() {\n\t\t" + lines + "\n\t}"},
		{"six", slices.Repeat([]string{"f()"}, 6), "func() {" + strings.Repeat("\n\t\tf()", 6) + "\n\t}"},
	} {
		if got := closure(tt.lines); got != tt.want {
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
