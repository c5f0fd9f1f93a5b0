package asserts

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Summary counts the checks made, the checks skipped and the violations found in the process so far.
type Summary struct {
	Calls      uint64 // judged
	SampledOut uint64 // outside of the sample
	Checks     Counts // lines of the plans of those calls; one about a list counts once
	Skips      []Skip
	Found      []Found
}

var (
	tally Collector // every violation, whatever the reporter

	skips sync.Map // Skip with Count 0 -> *atomic.Int64

	planned struct {
		sync.Mutex
		plans []*plan // those with calls
	}
)

func (op *Op) register() {
	p := op.resolve()
	planned.Lock()
	defer planned.Unlock()
	if !p.registered {
		p.registered = true
		planned.plans = append(planned.plans, p)
	}
}

func (p *plan) sampled(share float64) bool {
	n := p.begun.Add(1)
	if in := math.Ceil(float64(n)*share) != math.Ceil(float64(n-1)*share); in {
		return true
	}
	if p.sampledOut.Add(1) == 1 { //mutate:equivalent true: only saves time
		p.op.register()
	}
	return false
}

func countSkips(found []Skip) {
	for _, s := range found {
		n := int64(s.Count)
		s.Count = 0
		counter, _ := skips.LoadOrStore(s, new(atomic.Int64))
		counter.(*atomic.Int64).Add(n)
	}
}

// Summarize returns the summary of the process so far.
func Summarize() Summary {
	s := Summary{Found: tally.Found()}
	planned.Lock()
	for _, p := range planned.plans {
		countSkips(p.usualSkips())
		contents := int(p.calls[atContent].Load())
		calls := int(p.calls[atIdentity].Load()) + contents
		s.Calls += uint64(calls)
		s.SampledOut += p.sampledOut.Load()
		for c := range AllCodes.All() {
			switch {
			case !c.OnCall() || c.InRuns():
			case c.Level() > Identity:
				s.Checks[c] += contents * p.lines[c]
			default:
				s.Checks[c] += calls * p.lines[c]
			}
		}
	}
	planned.Unlock()
	skips.Range(func(key, n any) bool {
		skip := key.(Skip)
		skip.Count = int(n.(*atomic.Int64).Load())
		s.Skips = append(s.Skips, skip)
		return true
	})
	sortSkips(s.Skips)
	return s
}

func sortSkips(skips []Skip) {
	slices.SortFunc(skips, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Reason, b.Reason))
	})
}

// Write writes the summary as text.
func (s Summary) Write(w io.Writer) error {
	var b strings.Builder
	total := 0
	for _, n := range s.Checks {
		total += n
	}
	violations := 0
	for _, f := range s.Found {
		violations += f.Count
	}
	fmt.Fprintf(&b, "opassert: calls %d, checks %d, violations %d\n", s.Calls, total, violations)
	if s.SampledOut > 0 {
		fmt.Fprintf(&b, "  not in the sample: calls %d\n", s.SampledOut)
	}
	for code, n := range s.Checks {
		if n > 0 {
			fmt.Fprintf(&b, "  %v %-16s %d\n", Code(code), Code(code).Name(), n)
		}
	}
	for _, skip := range s.Skips {
		fmt.Fprintf(&b, "  %v skipped: %s: tensors %d\n", skip.Code, skip.Reason, skip.Count)
	}
	for _, f := range s.Found {
		fmt.Fprintf(&b, "  %d x %s", f.Count, f.Title())
		if f.Note != "" {
			b.WriteString("  (note)")
		}
		if site := f.Site.String(); site != "" {
			fmt.Fprintf(&b, "  at %s", site)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Main runs the tests of a package and returns the exit status, for TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(asserts.Main(m)) }
//
// With OPASSERT=collect it writes each report and the summary to standard error after the tests; with OPASSERT=log the
// reports were written before. The status is not 0 if there was a violation.
func Main(m interface{ Run() int }) int {
	inMain.Store(true)
	defer inMain.Store(false)
	status := m.Run()
	reporter := current.Load().reporter
	p, ok := reporter.(*mainReporter)
	if !ok {
		return status
	}
	found := p.collector.Found()
	if reporter == collected {
		for _, f := range found {
			f.WriteReport(os.Stderr)
		}
		Summarize().Write(os.Stderr)
	}
	if wrong := func(f Found) bool { return f.Note == "" }; slices.ContainsFunc(found, wrong) && status == 0 {
		status = 1
	}
	return status
}
