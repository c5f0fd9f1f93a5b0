package asserts

import "slices"

// A Policy tells which checks are unreliable, by the traits of tensors and by mode. It is plain data: take a preset,
// change it, and pass it to [SetPolicy], [WithPolicy] or [Judge]. After that it must not change.
type Policy struct {
	Name    string
	Rows    []Row
	AnyMode Codes // skipped while any mode is active
}

// A Row skips checks for tensors with a trait. A check about a pair is skipped if either tensor matches.
type Row struct {
	Trait  Traits // the row is for tensors with this
	Unless Traits // and none of these
	Skip   Codes
	Reason string // the reason given for the skips
}

// A Mode sees every call while it is active, as a TorchDispatchMode does, and so may keep tensors or replace kernels.
type Mode struct {
	Name        string
	Invalidates Codes // the checks that are unreliable while it is active
}

// Aware is the default policy: each trait and each mode skips only the checks that it invalidates.
func Aware() *Policy { return preset("aware", 0, nil) }

// PyTorch is the policy of PyTorch's own asserts: an active modeor dispatching subclass skips all checks on calls.
//
// Source: tools/autograd/gen_variable_type.py, the uses of dispatch_mode_enabled and tensor_has_dispatch.
func PyTorch() *Policy {
	calls := AllCodes &^ (1 << SchemaLint)
	return preset("pytorch", calls, []Row{
		{Trait: DirectSubclass, Skip: calls, Reason: "direct subclass"},
		{Trait: WrapperSubclass, Skip: calls, Reason: "wrapper subclass"},
	})
}

// preset makes a policy of rows of its own and the rows of each check.
func preset(name string, anyMode Codes, rows []Row) *Policy {
	for c := range AllCodes.All() {
		for _, skip := range c.Skips() {
			rows = addSkip(rows, c, skip)
		}
	}
	return &Policy{Name: name, AnyMode: anyMode, Rows: rows}
}

// addSkip adds a check to the row with the same traits and reason, or adds a row.
func addSkip(rows []Row, c Code, skip Row) []Row {
	i := slices.IndexFunc(rows, func(r Row) bool {
		return r.Trait == skip.Trait && r.Unless == skip.Unless && r.Reason == skip.Reason
	})
	if i < 0 {
		i = len(rows)
		rows = append(rows, Row{Trait: skip.Trait, Unless: skip.Unless, Reason: skip.Reason})
	}
	rows[i].Skip |= CodesOf(c)
	return rows
}

// Presets returns the policies that OPASSERT can name, and opassert explain -policy shows.
func Presets() []*Policy { return []*Policy{Aware(), PyTorch()} }

// With returns a copy of the policy with more rows.
func (p *Policy) With(rows ...Row) *Policy {
	q := *p
	q.Rows = slices.Concat(p.Rows, rows)
	return &q
}

func (p *Policy) forMode(m Mode) Codes { return m.Invalidates | p.AnyMode }

func (p *Policy) forTensor(t Traits) Codes {
	var codes Codes
	for _, r := range p.Rows {
		if r.matches(t) {
			codes |= r.Skip
		}
	}
	return codes
}

func (r *Row) matches(t Traits) bool { return t&r.Trait != 0 && t&r.Unless == 0 }

// Skips reports whether a call in some modes skips a check for some tensors, and why.
func (p *Policy) Skips(code Code, modes []Mode, tensors ...*Observation) (reason string, skip bool) {
	for _, m := range modes {
		if p.forMode(m).Has(code) {
			return "mode " + m.Name, true
		}
	}
	for _, o := range tensors {
		for i := range p.Rows {
			if row := &p.Rows[i]; row.Skip.Has(code) && row.matches(o.Traits) {
				return row.Reason, true
			}
		}
	}
	return "", false
}

func (p *Policy) special(level Level) Traits {
	var t Traits
	for _, r := range p.Rows {
		for code := range r.Skip.All() {
			if code.Level() <= level {
				t |= r.Trait
			}
		}
	}
	return t
}

// A PolicyLine is a line of a policy's table: a sort of tensor, or a mode, and the checks skipped for it.
type PolicyLine struct {
	For   string `json:"for"`
	Skips Codes  `json:"skips"`
}

// Table returns the policy as lines: each sort of tensor, then the modes.
func (p *Policy) Table() []PolicyLine {
	sorts := []struct {
		name   string
		traits Traits
	}{
		{"plain tensor", 0},
		{"meta tensor", MetaTensor},
		{"tensor without storage", Storageless},
		{"tensor without version counter", NoVersion},
		{"tensor whose storage another goroutine's call holds", Contended},
		{"conj, neg or zero tensor", Lazy},
		{"tensor whose bytes are not read", Unread},
		{"tensor of a pending collective", Pending},
		{"functional wrapper", FunctionalWrapper},
		{"direct subclass", DirectSubclass},
		{"wrapper subclass", WrapperSubclass},
		{"wrapper subclass that reports views", WrapperSubclass | ReportsViews},
	}
	var lines []PolicyLine
	for _, s := range sorts {
		lines = append(lines, PolicyLine{s.name, p.forTensor(s.traits)})
	}
	return append(lines, PolicyLine{"any other mode, besides what it declares", p.AnyMode})
}
