package asserts

import (
	"cmp"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// A Reporter receives the violations of one call, on the goroutine and after the return of the
// kernel that broke the rules. It is called concurrently.
type Reporter interface {
	Report(Violations)
}

// Panic panics with the *Violation, or with [Violations]; notes are for the [Summary]. It is the default.
var Panic Reporter = panics{}

type panics struct{}

func (panics) Report(vs Violations) {
	switch vs = vs.errors(); len(vs) {
	case 0:
	case 1:
		panic(vs[0])
	default:
		panic(vs)
	}
}

// Log writes reports to w. A violation of the same op, check, tensor and call site as an earlier
// one is not written again, only counted for the [Summary].
func Log(w io.Writer) Reporter { return &logger{w: w} }

type logger struct {
	mu   sync.Mutex
	w    io.Writer
	seen Collector
}

func (l *logger) Report(vs Violations) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range vs {
		if l.seen.add(v) {
			v.WriteReport(l.w)
		}
	}
}

// The reporters of OPASSERT.
var (
	stderr             = &logger{w: os.Stderr}
	logged    Reporter = &mainReporter{Reporter: stderr, collector: &stderr.seen}
	collector          = new(Collector)
	collected Reporter = &mainReporter{Reporter: collector, collector: collector}
)

// A mainReporter collects violations, which [Main] reports after the tests. Without Main it panics.
type mainReporter struct {
	Reporter
	collector *Collector
}

// inMain reports whether the tests run under Main.
var inMain atomic.Bool

func (p *mainReporter) Report(vs Violations) {
	switch {
	case inMain.Load():
		p.Reporter.Report(vs)
	case inTest():
		io.WriteString(os.Stderr, "opassert: without a TestMain that calls asserts.Main, a passing test does not show "+
			"violations under OPASSERT=log or collect; so this panics\n")
		Panic.Report(vs)
	default:
		stderr.Report(vs)
	}
}

// A Collector, whose zero value is ready, stores violations, one of each op, check, tensor and site, with their number.
type Collector struct {
	mu    sync.Mutex
	found map[foundKey]*Found
}

// Found is a violation and how often it occurred.
type Found struct {
	*Violation // the first
	Count      int
}

// foundKey identifies equal violations. Those of the elements of one list are equal.
type foundKey struct {
	code    Code
	op      string
	isRet   bool
	subject string
	site    Site
}

// Report stores the violations.
func (c *Collector) Report(vs Violations) {
	for _, v := range vs {
		c.add(v)
	}
}

func (c *Collector) add(v *Violation) bool {
	key := foundKey{v.Code, v.Op, v.Subject.Return, v.Subject.Name, v.Site}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.found[key]; f != nil {
		f.Count++
		return false
	}
	if c.found == nil {
		c.found = make(map[foundKey]*Found)
	}
	c.found[key] = &Found{v, 1}
	return true
}

// Found returns the violations, in order of op, tensor, check and site.
func (c *Collector) Found() []Found {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Found, 0, len(c.found))
	for _, f := range c.found {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(
			cmp.Compare(a.Op, b.Op),
			comparePlaces(a.Subject, b.Subject),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Site.File, b.Site.File),
			cmp.Compare(a.Site.Line, b.Site.Line),
		)
	})
	return all
}

// Reset forgets the violations.
func (c *Collector) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = nil
}

// deliver passes a call's violations to the test that made it, or else to the reporter of its settings.
func deliver(s *settings, vs Violations) {
	tally.Report(vs)
	if !s.bound {
		if t := tests.owner(); t != nil {
			if t.take(vs) { //mutate:equivalent true: unless the test ends meanwhile
				return
			}
		}
	}
	s.reporter.Report(vs)
}
