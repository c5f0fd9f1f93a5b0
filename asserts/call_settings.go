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

// settings determine how calls are checked. A value is never changed, only replaced.
type settings struct {
	level    Level
	reporter Reporter
	policy   *Policy
	modes    []*Mode
	sample   float64  // the share of calls that are checked
	bound    bool     // a context set the reporter
	off      bool     // OPASSERT is off
	alone    bool     // no other goroutine uses the tensors of a call
	bad      error    // OPASSERT is invalid
	holding  *holding // of the one call that has these settings
	keeps    bool     // its tensors are observed again

	// Derived by finish.
	aside     bool      // Begin takes its slow path: unset, sampled, or at the content level
	special   Traits    // traits that skip something
	usual     bool      // Call.usual may judge: no mode skips a check
	unchecked *settings // the settings of calls outside of the sample
}

func (s *settings) finish() *settings {
	s.unchecked = &settings{level: Off}
	s.aside = s.sample < 1 || s.level >= Content || s.bad != nil //mutate:equivalent true: only saves time
	s.special = s.policy.special(s.level)
	if s.policy.forTensor(NoVersion) == CodesOf(VersionBump) { // usualContents counts it
		s.special &^= NoVersion
	}
	s.usual = s.level != Off
	for _, m := range s.modes {
		if s.policy.forMode(*m) != 0 { //mutate:equivalent true: only saves time
			s.usual = false
		}
	}
	return s
}

var (
	current    atomic.Pointer[settings]
	updating   sync.Mutex
	configured sync.Once
)

// OPASSERT is read at the first use.
func init() { current.Store(&settings{aside: true}) }

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

// levelUnset returns the level if OPASSERT does not set one: tests check contents too.
func levelUnset(test bool) Level {
	if test {
		return Content
	}
	return Identity
}

func inTest() bool { return flag.Lookup("test.v") != nil }

func parseSettings(text string) (*settings, error) {
	s := &settings{level: levelUnset(inTest()), reporter: Panic, policy: Aware(), sample: 1}
	if strings.TrimSpace(text) == "" {
		return s.finish(), nil
	}
	said := make(map[string]string) // option by setting
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
	switch name, value, _ := strings.Cut(option, "="); name {
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

func update(change func(*settings)) {
	configure()
	updating.Lock()
	defer updating.Unlock()
	s := *current.Load()
	change(&s)
	current.Store(s.finish())
}

func replace[T any](value T, field func(*settings) *T) (restore func()) {
	var old T
	update(func(s *settings) { old, *field(s) = *field(s), value })
	return func() { update(func(s *settings) { *field(s) = old }) }
}

// SetLevel sets how much of each tensor is checked, and returns a function that restores the
// previous level. Off disables all checks; single calls are not checked beyond Content.
func SetLevel(l Level) (restore func()) {
	return replace(l, func(s *settings) *Level { return &s.level })
}

// SetReporter sets the reporter of violations, and returns a function that restores the previous one.
func SetReporter(r Reporter) (restore func()) {
	return replace(r, func(s *settings) *Reporter { return &s.reporter })
}

// SetPolicy sets the skip policy, and returns a function that restores the previous one.
func SetPolicy(p *Policy) (restore func()) {
	return replace(p, func(s *settings) **Policy { return &s.policy })
}

// SetAlone sets whether no other goroutine uses the tensors of a call meanwhile, and returns a function that restores
// the previous value. If not set, OA016 is judged in the first calls of each op, if no other goroutine runs, and in
// runs of many ops, such as those of opassert check and package optest.
func SetAlone(alone bool) (restore func()) {
	return replace(alone, func(s *settings) *bool { return &s.alone })
}

// SetSample sets the share of calls that are checked, from 0 to 1, and returns a function that restores it. Calls are
// counted by op, not drawn: with 0.1 the first call of each op is checked, the eleventh, and so on.
func SetSample(share float64) (restore func()) {
	return replace(share, func(s *settings) *float64 { return &s.sample })
}

// EnterMode makes a mode active for all calls of the process until leave is called. Where kernels
// accept a context, [WithMode] limits it to their calls.
func EnterMode(m Mode) (leave func()) {
	entered := &m
	update(func(s *settings) { s.modes = append(s.modes, entered) })
	return func() {
		update(func(s *settings) {
			s.modes = slices.DeleteFunc(slices.Clone(s.modes), func(m *Mode) bool { return m == entered })
		})
	}
}

// A scope holds the changes of a context to the process's settings.
type scope struct {
	changes []func(*settings)
	merged  atomic.Pointer[merged]
}

// merged is the settings of a scope, valid while those of the process are base.
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

// WithReporter sets the reporter for the calls that ctx is passed to.
func WithReporter(ctx context.Context, r Reporter) context.Context {
	return withChange(ctx, func(s *settings) { s.reporter, s.bound = r, true })
}

// WithPolicy sets the skip policy for the calls that ctx is passed to.
func WithPolicy(ctx context.Context, p *Policy) context.Context {
	return withChange(ctx, func(s *settings) { s.policy = p })
}

// WithMode makes a mode active for the calls that ctx is passed to.
func WithMode(ctx context.Context, m Mode) context.Context {
	return withChange(ctx, func(s *settings) { s.modes = append(slices.Clip(s.modes), &m) })
}

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
