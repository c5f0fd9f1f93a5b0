package slicesx

import (
	"slices"
	"strconv"
	"testing"
)

func TestMap(t *testing.T) {
	if got := Map([]int{1, 20}, strconv.Itoa); !slices.Equal(got, []string{"1", "20"}) {
		t.Errorf("of two elements: %q", got)
	}
	if got := Map(nil, strconv.Itoa); got != nil {
		t.Errorf("of none: %q, want nil", got)
	}
}

func TestJoin(t *testing.T) {
	if got := Join([]int{1, 20}, "; ", strconv.Itoa); got != "1; 20" {
		t.Errorf("got %q", got)
	}
}

func TestNth(t *testing.T) {
	if got := []int{Nth([]int{5, 6}, 1), Nth([]int{5, 6}, 2), Nth([]int(nil), 0)}; !slices.Equal(got, []int{6, 0, 0}) {
		t.Errorf("got %v", got)
	}
}
