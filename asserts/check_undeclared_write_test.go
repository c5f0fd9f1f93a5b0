package asserts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// If the bytes of a tensor are not read, before or after, they are a skip; version and metadata are
// judged.
func TestUndeclaredWriteUnread(t *testing.T) {
	one, none := holding("ab"), holding("--")
	unread := traits(asserts.Unread)
	moved := shaped(func(c *asserts.Snapshot) { c.Offset = 1 })
	skip := []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: "contents unavailable (tensor subclass, or no device-to-host copy, as during graph capture)", Count: 1}}
	for _, tt := range []struct {
		name          string
		before, after asserts.Observation
		skips         []asserts.Skip
		want          []string
	}{
		{"read", see(1, 2, one), see(1, 2, one), nil, nil},
		{"not read", see(1, 2, none, unread), see(1, 2, none, unread), skip, nil},
		{"not read before", see(1, 2, none, unread), see(1, 2, one), skip, nil},
		{"not read after", see(1, 2, one), see(1, 2, none, unread), skip, nil},
		{"version", see(1, 2, one, unread), see(1, 2, one, unread, version(1)), skip, []string{"OA009 argument self: version 0 -> 1"}},
		{"metadata", see(1, 2, one, unread), see(1, 2, one, unread, moved), skip, []string{"OA009 argument self: offset 0 -> 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			verdict := asserts.Judge(opOf("f(Tensor self) -> ()"), &asserts.Seen{Level: asserts.Content, Before: list{tt.before}, After: list{tt.after}}, asserts.Aware())
			var got []string
			for _, v := range verdict.Violations {
				got = append(got, said(v))
			}
			if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.skips, verdict.Skips); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if verdict.Judged[asserts.UndeclaredWrite] != 1 {
				t.Errorf("judged %d, want 1", verdict.Judged[asserts.UndeclaredWrite])
			}
		})
	}
}

// OA009 reports what append writes as behind the elements, and a write to an element as a write.
func TestWriteInCapacity(t *testing.T) {
	for after, want := range map[string]bool{"ab--": false, "ab-!": true, "a!-!": false, "a!--": false} {
		self := func(text string) asserts.Observation {
			return see(1, 2, holding(text), shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{2} }))
		}
		seen := &asserts.Seen{Level: asserts.Content, Plain: true, Before: list{self("ab--")}, After: list{self(after)}}
		var got bool
		for _, v := range asserts.Judge(opOf("f(Tensor self) -> ()"), seen, asserts.Aware()).Violations {
			got = got || strings.Contains(v.Saw, "behind its elements")
			if clips := strings.Contains(v.Fix, "slices.Clip(self)"); clips != want {
				t.Errorf("%s: the fix is %q", after, v.Fix)
			}
		}
		if got != want {
			t.Errorf("%s: told as a write behind the elements: %v, want %v", after, got, want)
		}
	}
}

// A change of metadata alone is no write behind the elements.
func TestFixOfMovedSlice(t *testing.T) {
	moved := see(1, 2, holding("ab"), shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{1} }))
	self := see(1, 2, holding("ab"), shaped(func(c *asserts.Snapshot) { c.Sizes = []int64{2} }))
	seen := &asserts.Seen{Level: asserts.Content, Plain: true, Before: list{self}, After: list{moved}}
	found := asserts.Judge(opOf("f(Tensor self) -> ()"), seen, asserts.Aware()).Violations
	if len(found) != 1 || !strings.HasPrefix(found[0].Fix, "change the metadata of a view of self") {
		t.Errorf("%v", found)
	}
}

// A return of Go within the memory of its base is a view, although its array ends elsewhere; of a libtorch it is on another
// StorageImpl.
func TestViewOfAnotherArray(t *testing.T) {
	at := func(impl, storage asserts.ID, text string) asserts.Observation {
		return see(impl, storage, holding(text), shaped(func(c *asserts.Snapshot) { c.Memory = 4096 }))
	}
	for plain, want := range map[bool]int{true: 0, false: 1} {
		self := list{at(1, 2, "abcd")}
		seen := &asserts.Seen{Level: asserts.Content, Plain: plain, Before: self, After: self, Results: list{at(3, 4, "ab")}}
		found := asserts.Judge(opOf("f(Tensor(a) self) -> Tensor(a)"), seen, asserts.Aware()).Violations
		found = slices.DeleteFunc(found, func(v *asserts.Violation) bool { return v.Code != asserts.ViewStorage })
		if len(found) != want {
			t.Errorf("plain %v: %d findings, want %d", plain, len(found), want)
		}
	}
	self, other := at(1, 2, "abcd"), see(5, 6, holding("abcd"), shaped(func(c *asserts.Snapshot) { c.Memory = 8192 }))
	seen := &asserts.Seen{Level: asserts.Content, Plain: true, Before: list{other, self}, After: list{other, self}, Results: list{at(3, 4, "ab")}}
	verdict := asserts.Judge(opOf("f(Tensor(a) other, Tensor self) -> Tensor(a)"), seen, asserts.Aware())
	if !slices.ContainsFunc(verdict.Violations, func(v *asserts.Violation) bool { return v.Code == asserts.ViewStorage }) {
		t.Errorf("a view of another argument: %v, want OA004", verdict.Violations)
	}
}
