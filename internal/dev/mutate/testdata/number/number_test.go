package number

import "testing"

func TestSign(t *testing.T) {
	for n, want := range map[int]int{-2: -1, 0: 0, 2: 1} {
		if got := Sign(n); got != want {
			t.Errorf("Sign(%d) = %d", n, got)
		}
	}
}

func TestMax(t *testing.T) {
	Max(1, 2)
}

func TestCached(t *testing.T) {
	for range 2 {
		if got := Cached("abc"); got != 3 {
			t.Errorf("Cached = %d", got)
		}
	}
}

func TestAbs(t *testing.T) {
	if a, b := Abs(-1), Abs(1); a != 1 || b != 1 {
		t.Errorf("Abs = %d and %d", a, b)
	}
}
