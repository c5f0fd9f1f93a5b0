package plan

import "testing"

func TestPick(t *testing.T) {
	names := NewNameSet("nil", "x")
	for _, tt := range []struct{ want, other, got string }{
		{"self", "", "self"},
		{"self", "", "self_"},
		{"x", "", "x_"},
		{"type", "", "type_"},
		{"", "err", "err"},
		{"_", "_out", "out"},
		{"_", "err", "err_"},
		{"2", "", "x2"},
		{"", "_2", "x2_"},
		{"", "__", "x__"},
	} {
		if got := names.Pick(tt.want, tt.other); got != tt.got {
			t.Errorf("Pick(%q, %q) = %s, want %s", tt.want, tt.other, got, tt.got)
		}
	}
}

// Empty words of a name are omitted, except the last.
func TestGoNameOfEmptyWords(t *testing.T) {
	op := parse(t, "two__words.over__load_(Tensor self) -> Tensor")
	if got := GoName(op.Func.Name); got != "TwoWordsOverLoad_" {
		t.Errorf("GoName = %s", got)
	}
}
