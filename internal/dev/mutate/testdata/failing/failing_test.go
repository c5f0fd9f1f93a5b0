package failing

import "testing"

func TestZero(t *testing.T) {
	if Zero(0) {
		t.Error("fails as it is")
	}
}
