package preserve

import "testing"

func TestParseCode(t *testing.T) {
	for c := SameObject; int(c) < NumCodes; c++ {
		for _, text := range []string{c.String(), c.Name()} {
			if got, ok := ParseCode(text); got != c || !ok {
				t.Errorf("%q is %v, %t", text, got, ok)
			}
		}
	}
	for _, text := range []string{"", "OA100", "OA110", "same-objects"} {
		if got, ok := ParseCode(text); got != 0 || ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
