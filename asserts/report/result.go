package report

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// An OpResult is the result of all cases of one op.
type OpResult struct {
	Op        string            `json:"op"`
	Schema    string            `json:"schema"`
	Composite bool              `json:"composite,omitempty"`
	Below     bool              `json:"below,omitempty"`  // has a kernel below autograd
	Kernel    engine.KernelKind `json:"kernel,omitempty"` // that serves the device, unless that is the CPU
	Missing   string            `json:"missing,omitempty"`
	Cases     int               `json:"cases"`
	Ran       int               `json:"ran"`
	Later     int               `json:"later,omitempty"`   // number of cases that -n all would run besides
	Error     string            `json:"error,omitempty"`   // of the closest attempt, for an op that never ran
	Closest   string            `json:"closest,omitempty"` // that attempt, as a case of a file of cases
	// the errors of an op that never ran, with the numbers of the first, by number of cases
	Said  map[string]int `json:"said,omitempty"`
	Unfit map[int]string `json:"unfit,omitempty"` // why cases of recipes did not run unchanged, by number
	// Cannot tells why no arguments make the op run here: by its [Operator], or the errors of most cases.
	Cannot  string `json:"cannot,omitempty"`
	beyond  map[string]int
	close   int
	Devices Devices `json:"devices,omitempty"`
	// kinds of tensors that the library does not have, with the number that cases needed
	Lacks    map[string]int `json:"lacks,omitempty"`
	Waived   []asserts.Skip `json:"waived,omitempty"` // violations that an allowlist waives
	Findings []*Finding     `json:"findings,omitempty"`
	Crashes  []Crash        `json:"crashes,omitempty"`
	Site     asserts.Site   `json:"site,omitzero"`     // of its schema, if that is in a file, or of its kernel
	Fault    string         `json:"fault,omitempty"`   // an error of opassert itself
	Library  bool           `json:"library,omitempty"` // or of the library
	Took     time.Duration  `json:"took"`
	// Tried are the value classes of calls that ran, Refused those of no such call.
	Tried   Classes `json:"tried,omitempty"`
	Refused Classes `json:"refused,omitempty"`
	// Unfinished are the cases that began and do not count, by reason; Left tells why the op was left before its last.
	Unfinished map[string]int `json:"unfinished,omitempty"`
	Left       string         `json:"left,omitempty"`
}

// Name returns the op's name as a person reads it: of a kernel in Go its own, if the schema has no namespace.
func (r *OpResult) Name() string {
	if f := r.Site.Func; f != "" && strings.Contains(r.Op, aten) {
		return path.Base(f)
	}
	return r.Op
}

// aten is the namespace of ops without one, which flags and files need not name.
const aten = "aten::"

// own returns a command or a call of the op, without that namespace for a kernel in Go.
func (r *OpResult) own(text string) string {
	if r.Site.Func != "" {
		text = strings.NewReplacer("-op "+aten, "-op ", "  "+aten, "  ", `["`+aten, `["`).Replace(text)
	}
	return text
}

// Classes are value classes by argument: "const:NaN" of "self". Those of "tensors" are about a call's tensors together.
type Classes map[string][]string

// add adds labels, "self: const:NaN", except those in others.
func (c *Classes) add(labels []string, others Classes) {
	for _, label := range labels {
		arg, class, _ := strings.Cut(label, ": ")
		if slices.Contains((*c)[arg], class) || slices.Contains(others[arg], class) {
			continue
		}
		if *c == nil {
			*c = make(Classes)
		}
		(*c)[arg] = append((*c)[arg], class)
	}
}

func (c Classes) remove(labels []string) {
	for _, label := range labels {
		arg, class, _ := strings.Cut(label, ": ")
		if rest := slices.DeleteFunc(c[arg], func(k string) bool { return k == class }); len(rest) > 0 {
			c[arg] = rest
		} else {
			delete(c, arg)
		}
	}
}

func (c Classes) count() int {
	n := 0
	for _, classes := range c {
		n += len(classes)
	}
	return n
}

func NewOpResult(o engine.Operator) *OpResult {
	r := &OpResult{
		Site: o.Where(),
		Op:   o.Name(), Schema: o.Schema.Func.String(), Composite: o.Schema.IsComposite(), Below: o.Below, Kernel: o.Kernel,
		Missing: o.Missing, Cannot: o.Cannot,
	}
	r.Bound()
	return r
}

// says counts an error; errors that differ only in their numbers count as the first of them.
func (r *OpResult) says(text string) {
	for known := range r.Said {
		if WithoutNumbers(known) == WithoutNumbers(text) {
			text = known
		}
	}
	addTo(&r.Said, text, 1)
}

// WithoutNumbers returns a kernel's error without digits: errors of one cause differ in sizes.
func WithoutNumbers(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// Add merges the result of a case.
func (r *OpResult) Add(c *CaseResult) {
	if c.Ran {
		r.Refused.remove(c.Tried)
		r.Tried.add(c.Tried, nil)
	} else {
		r.Refused.add(c.Tried, r.Tried)
	}
	if !c.Idle {
		r.count(c)
	}
	r.Devices.Add(c.Devices)
	for what, n := range c.Lacks {
		addTo(&r.Lacks, what, n)
	}
	for _, w := range c.Waived {
		r.Waived = AddSkip(r.Waived, w)
	}
	for i, f := range c.Found {
		if !slices.ContainsFunc(c.Found[:i], f.Repeats) { // as of a probe of the case
			r.find(f)
		}
	}
}

func (r *OpResult) count(c *CaseResult) {
	r.Cases++
	r.Later = c.Later
	if c.Unfit != "" {
		if r.Unfit == nil {
			r.Unfit = make(map[int]string)
		}
		r.Unfit[c.Case] = c.Unfit
	}
	if c.Ran {
		r.Ran++
		r.Error, r.Closest, r.Said = "", "", nil
	} else if r.Ran == 0 {
		r.says(c.Error)
		if r.Error == "" || c.Close > r.close {
			r.Error, r.Closest, r.close = c.Error, c.Closest, c.Close
		}
	}
	if c.Beyond != "" {
		counts := 1
		if c.Unfit != "" { // written by a user
			counts = GiveUp
		}
		addTo(&r.beyond, c.Beyond, counts)
	}
}

// Bound sets the reason why the op cannot run here, if there is one.
func (r *OpResult) Bound() {
	if r.Ran > 0 || len(r.Crashes) > 0 {
		return
	}
	for _, why := range slices.Sorted(maps.Keys(r.beyond)) {
		if n := r.beyond[why]; n >= min(GiveUp, r.Cases) && n > r.beyond[r.Cannot] {
			r.Cannot = why
		}
	}
}

// Leave counts a case that ended its worker because it needs too much memory or time.
func (r *OpResult) Leave(c *Crash) {
	why := "it needs more memory than a case may use"
	if c.Cause == Hang {
		why = "it has many elements or a large number, and takes longer than such a case may"
	}
	r.Cases++
	r.Unfinish(why)
}

// Unfinish counts a case that began, with the reason why it does not count.
func (r *OpResult) Unfinish(why string) { addTo(&r.Unfinished, why, 1) }

// find adds a finding, or counts it with an equal one, which it replaces if it shows more.
func (r *OpResult) find(f *Finding) {
	for i, known := range r.Findings {
		switch {
		case f.Repeats(known):
			known.Times += f.Times
			return
		case known.Repeats(f):
			f.Times += known.Times
			r.Findings[i] = f
			return
		}
	}
	r.Findings = append(r.Findings, f)
}

// Settle removes findings that others explain: about a tensor's parts, and that a result shares memory with an argument
// that only calls with one tensor for two arguments show. It makes a fake that raises for some calls alone a note, and
// says in how many calls an op that decomposes shares memory.
func (r *OpResult) Settle() {
	repeats := func(f *Finding) bool {
		part := f.Violation.Subject
		return part.Inside && slices.ContainsFunc(r.Findings, func(g *Finding) bool {
			whole := g.Violation.Subject
			return g.Violation.Code == f.Violation.Code && !whole.Inside && whole.Return == part.Return &&
				whole.Index == part.Index
		})
	}
	passedTwice := func(f *Finding) bool {
		return strings.Contains(f.Recipe, "same:") || strings.Contains(f.Recipe, "view:")
	}
	explained := func(f *Finding) bool {
		a := f.Violation
		return passedTwice(f) && slices.ContainsFunc(r.Findings, func(g *Finding) bool {
			b := g.Violation
			return a.Code == b.Code && a.Subject.Return && a.Subject == b.Subject && a.Against.Name != b.Against.Name &&
				!passedTwice(g)
		})
	}
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), repeats)
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), explained)
	for _, f := range r.Findings {
		if f.Violation.Symptom == asserts.FakeRaises && r.Devices[engine.Fake].Judged[asserts.MetaAlias] > 0 {
			f.Violation.Limit("for some calls")
		}
		if f.Violation.Symptom == asserts.Decomposes {
			f.Violation.Saw += fmt.Sprintf(" in %d of %d calls, and the schema does not declare it", f.Times, r.Ran)
		}
	}
}

// Repeats reports whether a finding is about the rule and the subject of an earlier one, apart from
// list elements and the device: a fault that shows on both is one. One that shows more is no
// repetition: a missing fake does not explain sizes that differ from the CPU's.
func (f *Finding) Repeats(earlier *Finding) bool {
	a, b := f.Violation, earlier.Violation
	return f.SameFault(earlier) && !f.Outweighs(earlier) && a.Against.Return == b.Against.Return &&
		a.Against.Name == b.Against.Name
}

// GiveUp is the number of cases, or fewer if the op has fewer, after which the op is given up if
// all ended in errors that no arguments avoid, such as that of a missing kernel.
const GiveUp = 10

// AddCrash adds a crash. It replaces those on other devices in the same case, and returns the
// devices: the first call of the case had already broken the memory.
func (r *OpResult) AddCrash(c *Crash) []engine.Device {
	var replaced []engine.Device
	for last := len(r.Crashes) - 1; c.Device != "" && !c.Twin && last >= 0 && r.Crashes[last].Twin &&
		r.Crashes[last].Case == c.Case; last-- {
		replaced = append(replaced, r.Crashes[last].Device)
		r.Crashes = r.Crashes[:last]
	}
	r.Crashes = append(r.Crashes, *c)
	return replaced
}

// Against returns the number of findings and crashes that count against an op.
func (r *OpResult) Against() int {
	findings := slices.DeleteFunc(slices.Clone(r.Findings), func(f *Finding) bool { return !f.Counts() })
	return len(findings) + len(slices.DeleteFunc(slices.Clone(r.Crashes), func(c Crash) bool { return !c.Counts() }))
}

// Counts reports whether the finding counts against its op: it is not a note, and not in a baseline.
func (f *Finding) Counts() bool { return !f.Known && f.Violation.Note == "" }

// Reason returns why an op never ran.
func (r *OpResult) Reason() string {
	switch {
	case r.Missing != "":
		return r.Missing
	case len(r.Crashes) > 0 && (r.Error == "" || r.close == Unmade):
		return r.Crashes[0].Cause
	case r.Error != "":
		return r.Error
	case r.Fault != "":
		return r.fault()
	}
	return "no case was tried"
}

func (r *OpResult) fault() string {
	if r.Library {
		return "the library failed: " + r.Fault
	}
	return "opassert failed: " + r.Fault
}
