package c10

import (
	"sync"
	"testing"
)

func TestGenerator(t *testing.T) {
	a, b, c := NewGenerator(1), NewGenerator(1), NewGenerator(2)
	same, differ := true, false
	for range 20 {
		x := a.Uniform(2, 3)
		if x < 2 || x >= 3 {
			t.Errorf("%v is outside [2, 3)", x)
		}
		same = same && x == b.Uniform(2, 3)
		differ = differ || x != c.Uniform(2, 3)
	}
	if !same || !differ {
		t.Errorf("same seed same numbers %v, other seed others %v", same, differ)
	}
}

func TestDefaultGenerator(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				(*Generator)(nil).Uniform(0, 1)
			}
		})
	}
	wg.Wait()
}
