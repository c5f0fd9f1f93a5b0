package report

import (
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// Devices are the tallies of the devices that ops were called on.
type Devices map[engine.Device]Tally

// A Tally is the number of tensors for which each check was judged on one device.
type Tally struct {
	Judged   asserts.Counts `json:"judged"`
	Skips    []asserts.Skip `json:"skips,omitempty"`
	Uncalled map[string]int `json:"uncalled,omitempty"` // cases without a call there, by reason
}

// Names returns the devices, sorted.
func (d Devices) Names() []engine.Device { return slices.Sorted(maps.Keys(d)) }

// Add adds the tallies of others.
func (d *Devices) Add(others Devices) {
	if *d == nil && others != nil {
		*d = make(Devices)
	}
	for device, t := range others {
		sum := (*d)[device]
		sum.add(t)
		(*d)[device] = sum
	}
}

// Sum returns the tally of all devices together.
func (d Devices) Sum() Tally {
	var sum Tally
	for _, device := range d.Names() {
		sum.add(d[device])
	}
	return sum
}

func (t *Tally) add(other Tally) {
	for i, n := range other.Judged {
		t.Judged[i] += n
	}
	for _, s := range other.Skips {
		t.Skips = AddSkip(t.Skips, s)
	}
	for why, n := range other.Uncalled {
		addTo(&t.Uncalled, why, n)
	}
}

func addTo(counts *map[string]int, of string, n int) {
	if *counts == nil {
		*counts = make(map[string]int)
	}
	(*counts)[of] += n
}

// AddVerdict adds the checks and skips of a verdict.
func (t *Tally) AddVerdict(v asserts.Verdict) { t.add(Tally{Judged: v.Judged, Skips: v.Skips}) }

// AddSkips adds checks that were not made.
func (t *Tally) AddSkips(skips []asserts.Skip) { t.add(Tally{Skips: skips}) }

// Excuse counts a judged check as skipped, for a reason why its violation does not count.
func (t *Tally) Excuse(code asserts.Code, reason string) {
	t.Judged[code]--
	t.Skips = AddSkip(t.Skips, asserts.Skip{Code: code, Reason: reason, Count: 1})
}

// AddSkip adds a skip, or its count to one with the same code and reason.
func AddSkip(skips []asserts.Skip, s asserts.Skip) []asserts.Skip {
	i := slices.IndexFunc(skips, func(k asserts.Skip) bool {
		k.Count = s.Count
		return k == s
	})
	if i < 0 {
		return append(skips, s)
	}
	skips[i].Count += s.Count
	return skips
}
