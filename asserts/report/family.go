package report

import "strings"

// Family returns an op's name without the parts that distinguish the forms of one kernel: the
// overload, the underscore of the in-place form, and the suffixes of derived forms.
func Family(op string) string {
	name := op
	if dot := strings.LastIndexByte(op, '.'); dot > strings.LastIndexByte(op, ':') {
		name = op[:dot]
	}
	if !strings.HasSuffix(name, "__") { // unlike __iand__
		name = strings.TrimSuffix(name, "_")
	}
	for _, derived := range []string{"_functional", "_copy"} {
		if base := strings.TrimSuffix(name, derived); !strings.HasSuffix(base, ":") {
			name = base
		}
	}
	return name
}
