package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Report is the results of a whole run.
type Report struct {
	Engine  string         `json:"engine"`
	Watched string         `json:"-"` // what the calls were compared with, if the engine is a program
	Level   asserts.Level  `json:"level"`
	Through string         `json:"through,omitempty"` // where calls begin, such as autograd; "" is the kernel of a backend
	Seed    uint64         `json:"seed"`
	Cases   int            `json:"cases"`          // requested for each op; 0 for the usual ones
	Command string         `json:"command"`        // the beginning of a repro line
	All     int            `json:"all"`            // ops of the run; more than len(Ops) if it was interrupted
	Shard   Shard          `json:"shard,omitzero"` // of which this is the report
	Gone    []baselineLine `json:"gone,omitempty"` // lines of the baseline that the run does not show
	Left    []string       `json:"left,omitempty"` // libraries that could not be loaded, each with the reason
	Unrun   []Unrun        `json:"unrun,omitempty"`
	Excuses []Excuse       `json:"excuses,omitempty"` // of the allowlists of -allow, that apply
	Ops     []*OpResult    `json:"ops"`

	// Of has digests of what decides the results, by name: equal runs have the same on every machine.
	Of map[string]string `json:"of,omitempty"`
}

// Findings returns the number of findings and crashes that count.
func (r *Report) Findings() int {
	n := 0
	for _, op := range r.Ops {
		n += op.Against()
	}
	return n
}

// Faults returns the failures of opassert itself, each once.
func (r *Report) Faults() []string { return r.faults(func(op *OpResult) bool { return !op.Library }) }

// LibraryFaults returns the failures of the library, each once.
func (r *Report) LibraryFaults() []string {
	return r.faults(func(op *OpResult) bool { return op.Library })
}

func (r *Report) faults(of func(*OpResult) bool) []string {
	var all []string
	for _, op := range r.Ops {
		if op.Fault != "" && of(op) && !slices.Contains(all, op.Fault) {
			all = append(all, op.Fault)
		}
	}
	return all
}

// Unreached returns the ops that never ran, without those that cannot run or crash: a waived crash is no call that ran.
func (r *Report) Unreached() []string {
	var all []string
	for _, op := range r.Ops {
		crashed := slices.ContainsFunc(op.Crashes, func(c Crash) bool { return c.Waived == "" })
		if op.Ran == 0 && op.Cannot == "" && !crashed {
			all = append(all, op.Op)
		}
	}
	return all
}

// Empty returns the reason why a run checked nothing, or "".
func (r *Report) Empty() string {
	if len(r.Ops) == 0 {
		return "there are no ops to run"
	}
	for _, op := range r.Ops {
		crashed := slices.ContainsFunc(op.Crashes, func(c Crash) bool { return c.Alone && c.Waived == "" })
		found := slices.ContainsFunc(op.Findings, func(f *Finding) bool { return f.Violation.Note == "" })
		if op.Ran > 0 || crashed || found {
			return ""
		}
	}
	if len(r.Ops) == 1 {
		return r.Ops[0].Name() + " never ran: " + r.Ops[0].Reason()
	}
	return fmt.Sprintf("none of %d ops ran; the first is %s: %s", len(r.Ops), r.Ops[0].Name(), r.Ops[0].Reason())
}

// Results returns the report in the form for every writer: findings and crashes; ops that never
// ran, and skips, each with its reason; and the checks that held, op by op.
func (r *Report) Results() []asserts.Result {
	all := slicesx.Map(r.Ops, func(op *OpResult) []asserts.Result { return op.timed(r.results(op)) })
	for _, u := range r.Unrun {
		all = append(all, []asserts.Result{{Op: u.Op, Status: asserts.Skipped, Reason: u.why()}})
	}
	return slices.Concat(all...)
}

func (r *OpResult) timed(results []asserts.Result) []asserts.Result {
	if len(results) > 0 {
		results[0].Took = r.Took
	}
	for i := range results {
		results[i].Site = cmp.Or(results[i].Site, r.Site)
	}
	return results
}

func (r *Report) results(op *OpResult) []asserts.Result {
	all := slices.Concat(r.found(op), op.cut())
	if op.Fault != "" {
		all = append(all, asserts.Result{Op: op.Op, Status: asserts.Failed, Reason: op.fault()})
	}
	if op.Ran == 0 {
		if len(op.Crashes) == 0 {
			all = append(all, asserts.Result{Op: op.Op, Status: asserts.Skipped, Reason: "never ran: " + op.Reason(),
				Count: op.Cases})
		}
		return all
	}
	for _, w := range op.Waived {
		all = append(all, asserts.Result{Op: op.Op, Code: w.Code, Symptom: w.Symptom.Of(w.Code), Status: asserts.Skipped,
			Count: w.Count, Reason: "waived: " + w.Reason})
	}
	for _, device := range op.Devices.Names() {
		all = append(all, op.held(device)...)
	}
	for _, what := range slices.Sorted(maps.Keys(op.Lacks)) {
		all = append(all, asserts.Result{Op: op.Op, Status: asserts.Skipped, Count: op.Lacks[what],
			Reason: (&engine.Unsupported{What: what}).Error()})
	}
	return all
}

// Lacking returns the kinds of tensors that a library lacks, with how many others replaced; "" for none.
func Lacking(lacks map[string]int) string {
	words := slicesx.Map(slices.Sorted(maps.Keys(lacks)),
		func(what string) string { return fmt.Sprintf("%s %d", what, lacks[what]) })
	if len(words) == 0 {
		return ""
	}
	return "skipped, as the library does not have it, with the number of tensors: " + strings.Join(words, ", ")
}

func (op *OpResult) held(device engine.Device) []asserts.Result {
	t := op.Devices[device]
	var all []asserts.Result
	for c := range asserts.AllCodes.All() {
		broken := slices.ContainsFunc(op.Findings, func(f *Finding) bool {
			return f.Violation.Code == c && slices.Contains(f.Devices, device)
		})
		if t.Judged[c] > 0 && !broken {
			all = append(all, asserts.Result{Op: op.Op, Code: c, Status: asserts.Passed, Device: string(device),
				Count: t.Judged[c]})
		}
	}
	for _, s := range t.Skips {
		all = append(all, asserts.Result{Op: op.Op, Code: s.Code, Status: asserts.Skipped, Device: string(device),
			Count: s.Count, Reason: s.Reason})
	}
	return all
}

// violation returns a finding's violation with the complete repro line, and the position of the op.
func (r *Report) violation(op *OpResult, f *Finding) *asserts.Violation {
	v := *f.Violation
	v.Site = cmp.Or(v.Site, op.Site)
	if v.Repro != "" {
		v.Repro = op.own(r.Command + " " + v.Repro)
	}
	v.Func = op.Name()
	return &v
}

func (r *Report) repro(op *OpResult, c Crash) string {
	return op.own(fmt.Sprintf("%s -op %s -case %d", r.Command, op.Op, c.Case)) + SeedFlag(r.Seed)
}

// SeedFlag returns the flag with which a command makes the same cases.
func SeedFlag(seed uint64) string {
	if seed == DefaultSeed {
		return ""
	}
	return fmt.Sprintf(" -seed %d", seed)
}

// text returns the call that shows a finding, and the line of a file of cases that repeats it.
func (f *Finding) text(op string) string {
	return printable.Sprintf("  call    %s\n  case    %s", f.Call, asCase(op, f.Recipe)) + f.program()
}

func (f *Finding) program() string {
	if f.Program == nil {
		return ""
	}
	return "\n  program " + f.Program.String()
}

// asCase returns an entry of a file of cases.
func asCase(op, recipe string) string {
	if recipe == "" {
		return ""
	}
	return fmt.Sprintf("- {ops: [%q], cases: [%s]}", op, recipe)
}

// CrashText returns the report of one crash.
func (r *Report) CrashText(op *OpResult, c Crash) string {
	var b strings.Builder
	printable.Printf(&b, "crash  %s  %s in case %d", op.Name(), c.Cause, c.Case)
	if c.Device != "" {
		printable.Printf(&b, "  [%s]", c.Device)
	}
	line := func(name, text string) {
		if text != "" {
			printable.Printf(&b, "\n  %-7s %s", name, text)
		}
	}
	line("schema", op.Schema)
	line("call", c.Call)
	line("case", asCase(op.Op, c.Recipe))
	for i, frame := range c.Frames {
		line([]string{"stack", ""}[min(i, 1)], frame)
	}
	line("said", c.Said)
	line("alone", "it happens in a process that runs nothing else")
	line("same", strings.Join(r.sameCrash(op, c), ", "))
	line("repro", r.repro(op, c))
	if c.Program != nil {
		line("program", c.Program.String())
	}
	line("site", op.Site.String())
	line("waive", fmt.Sprintf("{op: %s, crash: %s, reason: ...}", printable.YAML(strings.TrimPrefix(op.Op, "aten::")),
		printable.YAML(c.Cause)))
	return op.own(b.String())
}

func (r *Report) sameCrash(op *OpResult, c Crash) []string {
	var ops []string
	for _, other := range r.Ops {
		same := func(d Crash) bool { return d.Counts() && len(d.Frames) > 0 && d.Frames[0] == c.Frames[0] }
		if other != op && len(c.Frames) > 0 && slices.ContainsFunc(other.Crashes, same) {
			ops = append(ops, other.Name())
		}
	}
	return ops
}

func (c Crash) excuse() string {
	if !c.Alone {
		return "but not in a process of its own"
	}
	return "waived: " + c.Waived
}

// A RunCount is the number of ops of a run that ran, for text, JSON and page.
type RunCount struct {
	Ops      int            `json:"ops"`
	Reached  int            `json:"ran"`      // at least once
	Below    int            `json:"below"`    // ops with a kernel below autograd that can run here
	BelowRun int            `json:"belowRan"` // those of them that ran
	Cannot   map[string]int `json:"apart"`    // ops with such a kernel that cannot, by reason
}

func (r *Report) runCount() RunCount {
	count := RunCount{Ops: len(r.Ops), Cannot: make(map[string]int)}
	for _, op := range r.Ops {
		if op.Ran > 0 {
			count.Reached++
		}
		switch {
		case !op.Below:
		case op.Cannot != "":
			count.Cannot[op.Cannot]++
		default:
			count.Below++
			count.BelowRun += min(op.Ran, 1)
		}
	}
	return count
}

func (r RunCount) lines() []string {
	all := []string{fmt.Sprintf("%d of %d ran", r.Reached, r.Ops)}
	if r.BelowRun < r.Reached || r.Below < r.Ops {
		all[0] += fmt.Sprintf("; of those with a kernel below autograd %d of the %d that can run here", r.BelowRun, r.Below)
	}
	for _, why := range slices.Sorted(maps.Keys(r.Cannot)) {
		all = append(all, fmt.Sprintf("%d with a kernel below autograd cannot run here: %s", r.Cannot[why], why))
	}
	return all
}

// Totals are a report's numbers.
type Totals struct {
	RunCount
	Served            []Served // by sort of kernel
	Cases, Ran, Later int
	Findings, Crashes int // that count
	Notes             int // findings that are debatable
	Known             int // listed in a baseline
	Judged            asserts.Counts
	Skips, Waived     []asserts.Skip
	Devices           Devices
	Lacks             map[string]int // kinds of tensors that the library does not have, with the number that cases needed
	Tried, Refused    int            // value classes of arguments
	Cut               map[string]int // cases that were not finished and ops that were left, by reason
}

// later returns what -n all would add, or "".
func (t Totals) later() string {
	if t.Later == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more with -n all", t.Later)
}

// Totals computes the totals.
func (r *Report) Totals() Totals {
	t := Totals{RunCount: r.runCount(), Served: r.served(), Lacks: make(map[string]int), Cut: make(map[string]int)}
	var all Tally
	for _, op := range r.Ops {
		t.Cases += op.Cases
		t.Ran += op.Ran
		t.Later += op.Later
		for _, f := range op.Findings {
			switch {
			case f.Counts():
				t.Findings++
			case !f.Known:
				t.Notes++
			}
		}
		t.Known += len(op.known())
		for _, c := range op.Crashes {
			if c.Counts() {
				t.Crashes++
			}
		}
		all.add(op.Devices.Sum())
		t.Devices.Add(op.Devices)
		for _, w := range op.Waived {
			t.Waived = AddSkip(t.Waived, w)
		}
		for what, n := range op.Lacks {
			t.Lacks[what] += n
		}
		t.Tried += op.Tried.count()
		t.Refused += op.Refused.count()
		for _, c := range op.cut() {
			t.Cut[c.Reason] += max(c.Count, 1)
		}
	}
	t.Judged, t.Skips = all.Judged, all.Skips
	return t
}

// through is the level, and where calls begin.
func (r *Report) through() string {
	if r.Through != "" {
		return r.Level.String() + ", through " + r.Through
	}
	return r.Level.String()
}

func (r *Report) writeTotals(t *textWriter) {
	sum := r.Totals()
	t.line("  run     %s, level %v, seed %d", r.Engine, r.through(), r.Seed)
	for i, line := range sum.lines() {
		t.line("  %-7s %s", []string{"ops", "apart"}[min(i, 1)], line)
	}
	if line := servedLine(sum.Served); line != "" {
		t.line("  kernels %s", line)
	}
	t.line("  cases   %d, of which %d ran%s", sum.Cases, sum.Ran, sum.later())
	t.line("  inputs  %d kinds of input covered, %d rejected in every call", sum.Tried, sum.Refused)
	for _, why := range slices.Sorted(maps.Keys(sum.Cut)) {
		t.line("  cut     %d: %s", sum.Cut[why], why)
	}
	if len(r.Ops) <= fewOps {
		for _, op := range r.Ops {
			op.writeClasses(t)
		}
	}
	var judged []string
	for c := range asserts.AllCodes.All() {
		if n := sum.Judged[c]; n > 0 {
			judged = append(judged, fmt.Sprintf("%v %d", c, n))
		}
	}
	t.line("  judged  %s", strings.Join(judged, ", "))
	for _, s := range sum.Skips {
		t.line("  skipped %v %d: %s", s.Code, s.Count, s.Reason)
	}
	for _, s := range sum.Waived {
		t.line("  waived  %s %d: %s", s.Symptom.Of(s.Code), s.Count, s.Reason)
	}
	if text := Lacking(sum.Lacks); text != "" {
		t.line("  %s", text)
	}
	for _, device := range sum.Devices.Names() {
		uncalled := sum.Devices[device].Uncalled
		for _, why := range slices.Sorted(maps.Keys(uncalled)) {
			if n := uncalled[why]; n > 20 || sum.Ops < 20 {
				t.line("  not compared with %s %d: %s", device, n, why)
			}
		}
	}
}

// fewOps is the number of ops for which a text report has more details.
const fewOps = 5

// writeClasses writes the value classes with which the op ran, by argument, and those it refused in every call.
func (r *OpResult) writeClasses(t *textWriter) {
	for _, list := range []struct {
		verb string
		of   Classes
	}{{"tried", r.Tried}, {"refused", r.Refused}} {
		for _, arg := range slices.Sorted(maps.Keys(list.of)) {
			t.line("  %-7s %s %s: %s", list.verb, r.Name(), arg, strings.Join(list.of[arg], ", "))
		}
	}
}

func (op *OpResult) cut() []asserts.Result {
	var all []asserts.Result
	for _, why := range slices.Sorted(maps.Keys(op.Unfinished)) {
		all = append(all, asserts.Result{Op: op.Op, Status: asserts.Skipped, Reason: "a case was not finished: " + why,
			Count: op.Unfinished[why]})
	}
	if op.Left != "" {
		all = append(all, asserts.Result{Op: op.Op, Status: asserts.Skipped,
			Reason: "the cases that follow were not run: the op was left " + op.Left})
	}
	return all
}

// A textWriter keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		t.err = printable.Printf(t.w, format+"\n", args...)
	}
}

// DefaultSeed is the seed of a run without another one.
const DefaultSeed = 1

// Leave adds an op that is left out.
func (r *Report) Leave(o engine.Operator) { r.Unrun = append(r.Unrun, Unrun{o.Name(), o.Kernel}) }

// served counts the ops by the sort of kernel that serves the device; nil on the CPU.
func (r *Report) served() []Served {
	all := make([]Served, len(engine.Kernels))
	count := func(kernel engine.KernelKind, ran int) {
		if i := slices.Index(engine.Kernels, kernel); i >= 0 {
			all[i].Ops++
			all[i].Ran += ran
		}
	}
	for i, kernel := range engine.Kernels {
		all[i].Kernel = kernel
	}
	for _, op := range r.Ops {
		count(op.Kernel, min(op.Ran, 1))
	}
	for _, u := range r.Unrun {
		count(u.Kernel, 0)
	}
	if !slices.ContainsFunc(all, func(s Served) bool { return s.Ops > 0 }) {
		return nil
	}
	return all
}

// Programs counts the findings and crashes with a program, by its outcome.
func (r *Report) Programs() (reproduced, others int) {
	count := func(p *ReproProgram) {
		switch {
		case p == nil:
		case p.Reproduced:
			reproduced++
		default:
			others++
		}
	}
	for _, op := range r.Ops {
		for _, f := range op.Findings {
			count(f.Program)
		}
		for i := range op.Crashes {
			count(op.Crashes[i].Program)
		}
	}
	return reproduced, others
}
