package asserts

import "runtime/metrics"

// LooksUsual reports whether a wrapper would leave the judge out for such a call.
func LooksUsual(op *Op, s *Seen, policy *Policy) bool {
	usual, _ := UsualSkips(op, s, policy)
	return usual
}

// UsualSkips is LooksUsual, and returns the skips that it counts.
func UsualSkips(op *Op, s *Seen, policy *Policy) (usual bool, counted []Skip) {
	settings := &settings{level: s.Level, policy: policy, sample: 1, alone: s.Alone}
	for _, m := range s.Modes {
		settings.modes = append(settings.modes, &m)
	}
	c := Call{plan: op.resolve(), settings: settings.finish()}
	usual = c.usualSeen(s)
	if c.counter == unheld {
		c.plan.calls[unheld].Add(1)
	}
	return usual, c.plan.usualSkips()
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

// ForTensor returns the checks that a policy skips.
func (p *Policy) ForTensor(t Traits) Codes { return p.forTensor(t) }

// Alone reports whether no other goroutine runs.
var Alone = alone

// OfProgram reports whether a goroutine in a function is one of the program.
var OfProgram = ofProgram

// AddSkip adds a check to the rows of a preset.
var AddSkip = addSkip

// ForgetSummary resets the summary.
func ForgetSummary() {
	tally.Reset()
	skips.Clear()
	planned.Lock()
	defer planned.Unlock()
	for _, p := range planned.plans {
		p.calls[atIdentity].Store(0)
		p.calls[atContent].Store(0)
		p.sampledOut.Store(0)
	}
}

// CountNoFinalizers pretends that no finalizer has run.
func CountNoFinalizers() (restore func()) {
	was := finalizers
	finalizers = func() []metrics.Sample { return nil }
	return func() { finalizers = was }
}

// LevelUnset returns the level of a test, or of another program, where OPASSERT
// names none.
var LevelUnset = levelUnset
