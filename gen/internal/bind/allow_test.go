package bind

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A comment that allows a finding of a line is read anywhere.
func TestLineAllows(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a

//opassert:allow OA201 as it is
//opassert:allow OA009 it writes
func f() {
	g() //opassert:allow hidden-kernel it may
	// opassert:allow OA202 in prose
}
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range LineAllows(file) {
		got = append(got, ParseFinding(a.Check).Code+" "+a.Reason)
	}
	if want := []string{"OA201 as it is", "OA202 it may"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A comment beside a kernel's mark allows it to violate a check.
func TestAllow(t *testing.T) {
	const schema = "relu(Tensor self) -> Tensor"
	kernel := func(marks string) string { return marks + "\nfunc Relu(self *Tensor) *Tensor { return nil }" }
	for _, tt := range []struct{ name, decls, want string }{
		{"nothing", kernel("//opassert:kernel relu"), ""},
		{"a code", kernel("//opassert:kernel relu\n//opassert:allow OA009 it is known to write"), "OA009 it is known to write"},
		{"a name, before the mark", kernel("//opassert:allow undeclared-write it is known to write\n//opassert:kernel relu"), "OA009 it is known to write"},
		{"two", kernel("//opassert:kernel relu\n//opassert:allow OA007 it may\n//opassert:allow OA009 it writes"), "OA009 it writes, OA007 it may"},
		{"no reason", kernel("//opassert:kernel relu\n//opassert:allow OA009"), "want a check and the reason after //opassert:allow: OA009 has no reason"},
		{"no check", kernel("//opassert:kernel relu\n//opassert:allow"), `want a check and the reason after //opassert:allow: unknown check ""`},
		{"a check that is none", kernel("//opassert:kernel relu\n//opassert:allow undeclared-writes so it is"), `unknown check "undeclared-writes"; did you mean undeclared-write?`},
		{"at no kernel", kernel("//opassert:kernel relu") + "\n\n//opassert:allow OA009 it writes\nfunc Other() {}", "OA009 is about running kernels, but this is not in a kernel's doc comment; put it beside the mark //opassert:kernel"},
		{"an unknown check at no kernel", kernel("//opassert:kernel relu") + "\n\n//opassert:allow OA20l it calls\nfunc Other() {}", `unknown check "OA20l"; did you mean OA201?`},
		{"a finding of vet, at a kernel", kernel("//opassert:kernel relu\n//opassert:allow OA203 vet knows"), ""},
		{"a finding of vet, by its name, at no kernel", kernel("//opassert:kernel relu") + "\n\n//opassert:allow around-wrapper vet knows\nfunc Other() {}", ""},
	} {
		pkg, err := find(t, tensorType+tt.decls)
		var got []string
		if err == nil {
			var wrappers []Wrapper
			if wrappers, _, err = Bind(pkg, ops(t, schema), allChecks(t), ""); err == nil {
				for _, c := range wrappers[0].Plan.Checks {
					if c.Waived != nil {
						got = append(got, c.Code.String()+" "+c.Waived.Reason)
					}
				}
			}
		}
		text := strings.Join(got, ", ")
		if err != nil {
			text = strings.Join(complaints(err), "\n")
		}
		if text != tt.want && (err == nil || tt.want == "" || !strings.Contains(text, tt.want)) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}
