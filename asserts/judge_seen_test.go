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

// Parts are numbered like other tensors, even if two observations share them.
func TestNumberParts(t *testing.T) {
	content := &asserts.Snapshot{Parts: []asserts.Part{{Name: "a", Observation: see(70, 80)}, {Name: "b", Observation: see(80, 90)}}}
	whole := see(90, 80)
	whole.Content = content
	seen := asserts.Seen{Before: list{whole}, After: list{whole}, Results: list{see(5, 70)}}
	seen.Number()
	var got []asserts.ID
	for _, o := range []asserts.Observation{seen.Before[0], content.Parts[0].Observation, content.Parts[1].Observation, seen.After[0], seen.Results[0]} {
		got = append(got, o.Impl, o.Storage)
	}
	if diff := cmp.Diff([]asserts.ID{1, 2, 3, 2, 2, 1, 1, 2, 4, 3}, got); diff != "" {
		t.Error(diff)
	}
}

// The skips of returns without use counts are those of every call that an engine observed.
func TestSkipsOfSeenCalls(t *testing.T) {
	defer asserts.SetLevel(asserts.Identity)()
	defer asserts.SetAlone(false)()
	count := func() (n int) {
		for _, s := range asserts.Summarize().Skips {
			if s.Code == asserts.FreshStorage && s.Reason == "uses not counted" {
				n = s.Count
			}
		}
		return n
	}
	before := count()
	op := wholeOp("f(Tensor self) -> Tensor")
	for range 3 {
		var call asserts.Call
		call.BeginSeen(op)
		fresh := asserts.Observation{Impl: 3, Storage: 4, ImplUses: asserts.NotCounted, StorageUses: asserts.NotCounted}
		call.JudgeSeen(&asserts.Seen{Level: asserts.Identity, Before: list{see(1, 2)}, After: list{see(1, 2)}, Results: list{fresh}})
	}
	if n := count() - before; n != 3 {
		t.Errorf("3 calls have %d skips of OA005", n)
	}
}
