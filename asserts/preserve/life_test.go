package preserve

import "testing"

func TestProtocolOf(t *testing.T) {
	for version, want := range map[string]Protocol{
		"2.9.1": Flipping, "2.10.0": Counting, "2.12.0+cu130": Counting, "3.0": Counting, "1.13.1": Flipping, "1.20": Flipping,
		"": Flipping, "3": Flipping, "2": Flipping, "of unknown version": Flipping,
	} {
		if got := ProtocolOf(version); got != want {
			t.Errorf("%q: protocol %d, want %d", version, got, want)
		}
	}
}

// If both sides count, an impl owns no object: the invariant of one owner does not apply until the
// object is dead.
func TestNextWhereBothCount(t *testing.T) {
	for _, step := range []Step{Preserve, Resurrect} {
		for state, want := range map[State]Code{Unknown: OneOwner, Holding: OneOwner, Preserved: OneOwner, Dead: UseAfter} {
			if to, code := Counting.Next(state, step); code != want || (to == Dead) != (state == Dead) {
				t.Errorf("%v %v: %v and %v, want %v", state, step, to, code, want)
			}
		}
	}
	for _, step := range []Step{Create, Hand, Deallocate} {
		for state := range Dead + 1 {
			to, code := Counting.Next(state, step)
			if alike, same := Flipping.Next(state, step); to != alike || code != same {
				t.Errorf("%v %v: %v and %v, want %v and %v, as where ownership flips", state, step, to, code, alike, same)
			}
		}
	}
	if to, code := Flipping.Next(Dead, Create); to != Holding || code != 0 {
		t.Errorf("an object that is made where one was has the state %v, %v", to, code)
	}
	if to, code := Flipping.Next(Holding, Preserve); to != Preserved || code != 0 {
		t.Errorf("where ownership flips preservation leads to %v, %v", to, code)
	}
}
