package asserts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

func TestObjectsAreNumberedInOrder(t *testing.T) {
	see := func(impl, storage asserts.ID) asserts.Observation {
		return asserts.Observation{Impl: impl, Storage: storage}
	}
	seen := asserts.Seen{
		Before:  []asserts.Observation{see(900, 700), see(0, 0), see(800, 700)},
		After:   []asserts.Observation{see(900, 600), see(0, 0), see(800, 700)},
		Results: []asserts.Observation{see(800, 700), see(500, 0)},
	}
	seen.Number()
	want := asserts.Seen{
		Before:  []asserts.Observation{see(1, 2), see(0, 0), see(3, 2)},
		After:   []asserts.Observation{see(1, 4), see(0, 0), see(3, 2)},
		Results: []asserts.Observation{see(3, 2), see(5, 0)},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}
