package asserts

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// settings is how calls are checked. A value is never changed, only replaced.
type settings struct {
	level    Level
	reporter Reporter
	policy   *Policy
	modes    []*Mode
	sample   float64  // the share of calls that is checked
	bound    bool     // the reporter was given by a context
	off      bool     // OPASSERT says off
	alone    bool     // no other goroutine uses the tensors of a call
	bad      error    // OPASSERT can't be read
	holding  *holding // of the one call that these settings are for
	keeps    bool     // its tensors are looked at again

	// Derived by finish.
	on        bool      // not Off
	aside     bool      // Begin must look closer: unset, sampled, or at the content level
	special   Traits    // traits that skip something
	quick     bool      // Call.clean may judge: no mode skips anything
	unchecked *settings // those of a call that is sampled out
}

func (s *settings) finish() *settings {
	s.unchecked = &settings{level: Off}
	s.on = s.level != Off
	s.aside = s.sample < 1 || s.level >= Content || s.bad != nil //mutate:equivalent true: only saves time
	s.special = s.policy.special(s.level)
	if s.policy.forTensor(NoVersion) == CodesOf(VersionBump) { // which cleanContents counts
		s.special &^= NoVersion
	}
	s.quick = s.on
	for _, m := range s.modes {
		if s.policy.forMode(*m) != 0 { //mutate:equivalent true: only saves time
			s.quick = false
		}
	}
	return s
}

var (
	current    atomic.Pointer[settings]
	updating   sync.Mutex
	configured sync.Once
)

// Until the first use OPASSERT has not been read.
func init() { current.Store(&settings{aside: true}) }

// configure reads OPASSERT, once.
func configure() {
	configured.Do(func() {
		s, err := parseSettings(os.Getenv("OPASSERT"))
		if err != nil {
			s = &settings{reporter: Panic, policy: Aware(), sample: 1, level: Identity, bad: err}
			s.finish()
		}
		current.Store(s)
	})
}

// levelUnset returns the level where OPASSERT names none: tests see contents too.
func levelUnset(test bool) Level {
	if test {
		return Content
	}
	return Identity
}

// inTest reports whether the program is that of go test.
func inTest() bool { return flag.Lookup("test.v") != nil }

// parseSettings reads OPASSERT.
func parseSettings(text string) (*settings, error) {
	s := &settings{level: levelUnset(inTest()), reporter: Panic, policy: Aware(), sample: 1}
	if strings.TrimSpace(text) == "" {
		return s.finish(), nil
	}
	said := make(map[string]string) // options by the setting
	for option := range strings.SplitSeq(text, ",") {
		option = strings.TrimSpace(option)
		what, _, ok := strings.Cut(option, "=")
		if !ok {
			what = "reporter"
		}
		if !s.set(option) {
			return nil, fmt.Errorf("opassert: OPASSERT=%s: unknown option %q; the options are "+
				"panic, log, collect or off, level=identity or content, sample=0..1, policy=aware or pytorch", text, option)
		}
		if other, twice := said[what]; twice {
			return nil, fmt.Errorf("opassert: OPASSERT=%s: want one of %s and %s", text, other, option)
		}
		said[what] = option
	}
	if s.off {
		s.level = Off
	}
	return s.finish(), nil
}

func (s *settings) set(option string) bool {
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "level":
		if value != Identity.String() && value != Content.String() {
			return false
		}
		s.level = Level(slices.Index(levels[:], value))
		return true
	case "sample":
		share, err := strconv.ParseFloat(value, 64)
		s.sample = share
		return err == nil && share >= 0 && share <= 1
	case "policy":
		for _, p := range Presets() {
			if p.Name == value {
				s.policy = p
				return true
			}
		}
		return false
	}
	switch option {
	case "panic":
		s.reporter = Panic
	case "log":
		s.reporter = logged
	case "collect":
		s.reporter = collected
	case "off":
		s.off = true
	default:
		return false
	}
	return true
}

// update replaces the process's settings.
func update(change func(*settings)) {
	configure()
	updating.Lock()
	defer updating.Unlock()
	s := *current.Load()
	change(&s)
	current.Store(s.finish())
}

// replace sets one of the process's settings, and returns a function that restores it.
func replace[T any](value T, field func(*settings) *T) (restore func()) {
	var old T
	update(func(s *settings) { old, *field(s) = *field(s), value })
	return func() { update(func(s *settings) { *field(s) = old }) }
}

// SetLevel sets how much of each tensor is checked, and returns a function that
// restores the level before. Off turns everything off; nothing beyond Content is done on a
// call.
func SetLevel(l Level) (restore func()) {
	return replace(l, func(s *settings) *Level { return &s.level })
}

// SetReporter sets the reporter of violations, and returns a function that restores
// the one before.
func SetReporter(r Reporter) (restore func()) {
	return replace(r, func(s *settings) *Reporter { return &s.reporter })
}

// SetPolicy sets the skip policy, and returns a function that restores the one before.
func SetPolicy(p *Policy) (restore func()) {
	return replace(p, func(s *settings) **Policy { return &s.policy })
}

// SetAlone sets whether the program uses no tensor of a call on another goroutine
// meanwhile, and returns a function that restores it. Without, OA016 is judged in
// the first calls of each op, where no other goroutine runs, and in runs of many ops,
// as those of opassert check and package optest.
func SetAlone(alone bool) (restore func()) {
	return replace(alone, func(s *settings) *bool { return &s.alone })
}

// SetSample sets the share of calls that is checked, from 0 to 1, and returns a
// function that restores it. Calls are counted by op, not drawn: with 0.1 the first
// call of each op is checked, the eleventh, and so on.
func SetSample(share float64) (restore func()) {
	return replace(share, func(s *settings) *float64 { return &s.sample })
}

// EnterMode makes a mode active for all calls of the process until leave.
// Where kernels take a context, [WithMode] reaches just their calls.
func EnterMode(m Mode) (leave func()) {
	entered := &m
	update(func(s *settings) { s.modes = append(s.modes, entered) })
	return func() {
		update(func(s *settings) {
			s.modes = slices.DeleteFunc(slices.Clone(s.modes), func(m *Mode) bool { return m == entered })
		})
	}
}

// A scope is the changes that a context makes to the process's settings.
type scope struct {
	changes []func(*settings)
	merged  atomic.Pointer[merged]
}

// merged is the settings of a scope, good while the process's are base.
type merged struct{ base, settings *settings }

type scopeKey struct{}

func withChange(ctx context.Context, change func(*settings)) context.Context {
	s := &scope{changes: []func(*settings){change}}
	if outer, ok := ctx.Value(scopeKey{}).(*scope); ok {
		s.changes = append(slices.Clip(outer.changes), change)
	}
	return context.WithValue(ctx, scopeKey{}, s)
}

// WithLevel sets the level for the calls that ctx is passed to.
func WithLevel(ctx context.Context, l Level) context.Context {
	return withChange(ctx, func(s *settings) { s.level = l })
}

// WithReporter sets where the violations of the calls go that ctx is passed to.
func WithReporter(ctx context.Context, r Reporter) context.Context {
	return withChange(ctx, func(s *settings) { s.reporter, s.bound = r, true })
}

// WithPolicy sets the skip policy of the calls that ctx is passed to.
func WithPolicy(ctx context.Context, p *Policy) context.Context {
	return withChange(ctx, func(s *settings) { s.policy = p })
}

// WithMode makes a mode active for the calls that ctx is passed to.
func WithMode(ctx context.Context, m Mode) context.Context {
	return withChange(ctx, func(s *settings) { s.modes = append(slices.Clip(s.modes), &m) })
}

// over returns base as the scope changes it.
func (sc *scope) over(base *settings) *settings {
	if m := sc.merged.Load(); m != nil && m.base == base { //mutate:equivalent false: only saves time
		return m.settings
	}
	s := *base
	for _, change := range sc.changes {
		change(&s)
	}
	sc.merged.Store(&merged{base, s.finish()})
	return &s
}
