package asserts

import "runtime/metrics"

// Clean runs the shortcut of a wrapper on what it recorded of a call: false
// means that the judge would have been asked.
func Clean(op *Op, s *Seen, policy *Policy) bool {
	clean, _ := CleanSkips(op, s, policy)
	return clean
}

// CleanSkips is Clean with what the shortcut has counted as skipped.
func CleanSkips(op *Op, s *Seen, policy *Policy) (clean bool, counted []Skip) {
	settings := &settings{level: s.Level, policy: policy, sample: 1, alone: s.Alone}
	for _, m := range s.Modes {
		settings.modes = append(settings.modes, &m)
	}
	c := Call{plan: op.resolve(), settings: settings.finish(), on: true}
	clean = c.cleanSeen(s)
	for i := range c.plan.skipped {
		if n := c.plan.skipped[i].Swap(0); n > 0 {
			counted = append(counted, Skip{usualSkips[i].Code, usualSkips[i].Reason, int(n)})
		}
	}
	return clean, counted
}

// ParseOPASSERT returns what OPASSERT would set.
func ParseOPASSERT(text string) (level Level, reporter Reporter, policy *Policy, sample float64, err error) {
	s, err := parseSettings(text)
	if err != nil {
		return 0, nil, nil, 0, err
	}
	return s.level, s.reporter, s.policy, s.sample, nil
}

// The reporters that OPASSERT names.
var (
	Logged    = logged
	Collected = collected
)

// ForMode and ForTensor are what a policy skips.
func (p *Policy) ForMode(m Mode) Codes     { return p.forMode(m) }
func (p *Policy) ForTensor(t Traits) Codes { return p.forTensor(t) }

// Alone reports whether no other goroutine runs.
var Alone = alone

// AddSkip adds a check to the rows of a preset.
var AddSkip = addSkip

// ForgetSummary starts the summary anew.
func ForgetSummary() {
	tally.Reset()
	skips.Clear()
	planned.Lock()
	defer planned.Unlock()
	for _, p := range planned.plans {
		p.calls.Store(0)
		p.contents.Store(0)
		p.sampledOut.Store(0)
	}
}

// CountNoFinalizers makes it look as if none had run yet.
func CountNoFinalizers() (restore func()) {
	was := finalizers
	finalizers = func() []metrics.Sample { return nil }
	return func() { finalizers = was }
}

// ForgetSubclasses undoes RegisterSubclass.
func ForgetSubclasses() {
	subclasses.Lock()
	subclasses.rows = nil
	subclasses.Unlock()
	update(func(s *settings) { s.policy = Aware() })
}

// UsualLevel returns the level of a test, or of another program, where OPASSERT
// names none.
var UsualLevel = levelUnset
