package libtorch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// contentWords are the words that the content level adds for a tensor.
func contentWords(flags int64, bytes string) []int64 {
	var s scratch
	s.put(6, 1, 2, 3, 400, 5) // float32 on cuda:2, offset, bytes, digest
	s.put(2, 7, 8)
	s.put(1, 80, 10)
	s.putText(bytes)
	s.put(flags)
	s.putText("N, C")
	s.putText("Strided")
	s.putText("")
	s.put(11, 12, 13)
	return s.request
}

// Each word of an observation is one property of a tensor.
func TestObservation(t *testing.T) {
	r := reader{append([]int64{21, 22, 24<<32 | 23, 3<<56 | 1<<48 | (traitMeta|traitLazy)<<32 | 25}, contentWords(flagLeaf, "twelve bytes")...)}
	var got asserts.Observation
	if last := r.observation(&got); last != 3 || len(r.words) != 0 {
		t.Errorf("%d parts follow, %d words left", last, len(r.words))
	}
	want := asserts.Observation{
		Impl: 21, Storage: 22, ImplUses: 23, StorageUses: 24, Version: 25, Traits: asserts.MetaTensor | asserts.Lazy,
		Content: &asserts.Snapshot{
			DType: "float32", Device: "cuda:2", Offset: 3, Nbytes: 400, Digest: 5, Sizes: []int64{7, 8}, Strides: []int64{80, 10}, Bytes: []byte("twelve bytes"),
			Leaf: true, Names: "N, C", Layout: "Strided", Grad: 11, Memory: 12, Counter: 13,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each flag of a tensor is one field of its snapshot.
func TestSnapshotFlags(t *testing.T) {
	for flag, field := range map[int64]func(*asserts.Snapshot){
		0:                         func(*asserts.Snapshot) {},
		flagConj:                  func(s *asserts.Snapshot) { s.Conj = true },
		flagNeg:                   func(s *asserts.Snapshot) { s.Neg = true },
		flagGrad:                  func(s *asserts.Snapshot) { s.RequiresGrad = true },
		flagLeaf:                  func(s *asserts.Snapshot) { s.Leaf = true },
		flagForeign:               func(s *asserts.Snapshot) { s.Owner = asserts.ForeignOwner },
		flagUnowned:               func(s *asserts.Snapshot) { s.Owner = asserts.NoOwner },
		flagForeign | flagUnowned: func(s *asserts.Snapshot) { s.Owner = asserts.NoOwner },
	} {
		none := reader{contentWords(0, "")}
		want := none.snapshot()
		field(want)
		r := reader{contentWords(flag, "")}
		if diff := cmp.Diff(want, r.snapshot()); diff != "" {
			t.Errorf("flag %#x (-want +got):\n%s", flag, diff)
		}
	}
}
