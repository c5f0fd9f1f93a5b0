package trace

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"sync"

	"github.com/opassert/opassert/internal/slicesx"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// Limits of one page.
const (
	maxKept   = 20_000 // lives kept until the end, besides the broken ones
	maxBreaks = 50     // violations drawn
	maxBeside = 12     // rows besides that of the broken object
)

// HTML writes one self-contained page that draws a row for each life of a violation.
type HTML struct {
	name  string
	lives []Life
	free  int
}

// NewHTML returns an HTML of the log of a name.
func NewHTML(name string) *HTML { return &HTML{name: name, free: maxKept} }

// Life keeps one life for the page.
func (h *HTML) Life(l Life) {
	if !l.Broken() {
		if h.free == 0 {
			return
		}
		h.free--
	}
	h.lives = append(h.lives, l)
}

// Write writes the page.
func (h *HTML) Write(w io.Writer, r LogReport) error { return page().Execute(w, h.draw(r)) }

func (h *HTML) draw(r LogReport) pageData {
	p := pageData{Name: h.name, Report: &r}
	findings := r.Breaks() // those with a consequence come first
	slices.SortStableFunc(findings, func(a, b finding) int { return a.rank() - b.rank() })
	for _, f := range findings[:min(len(findings), maxBreaks)] {
		b, drawn := breakData{finding: f}, f.InvariantViolation
		if len(b.Below) > 0 {
			drawn = b.Below[0]
		}
		lives := h.around(&drawn)
		b.Drawn, b.Steps = drawn, steps(lives, &drawn)
		b.Rows = rows(lives, b.Steps, &drawn)
		p.Breaks = append(p.Breaks, b)
	}
	p.MoreBreaks = len(findings) - len(p.Breaks)
	return p
}

// around returns the lives of a violation: the object's, its impl's, and those of others that share the impl.
func (h *HTML) around(v *InvariantViolation) []Life {
	var object, impl, beside []Life
	for _, l := range h.lives {
		switch {
		case l.World != v.World:
			continue
		case l.Kind == Object && l.Address == v.Object &&
			slices.ContainsFunc(l.Events, func(e Event) bool { return e.Line == v.Line && e.Code == v.Code }):
			object = append(object, l)
		case v.Impl == 0:
			continue
		case l.Kind == Impl && l.Address == v.Impl:
			impl = append(impl, l)
		case len(beside) < maxBeside &&
			(l.Impl == v.Impl || slices.ContainsFunc(l.Events, func(e Event) bool { return e.At == v.Impl })):
			beside = append(beside, l)
		}
	}
	return slices.Concat(object, impl, beside)
}

type pageData struct {
	Name       string
	Report     *LogReport
	Breaks     []breakData
	MoreBreaks int
}

type breakData struct {
	finding
	Drawn InvariantViolation
	Rows  []row
	Steps []stepData
}

// A row is a life drawn from left to right; positions are in percent.
type row struct {
	Life
	Bars   []bar
	Dots   []dot
	Breaks float64 // the violation
	Later  float64 // its consequence
}

type bar struct {
	X, Width float64
	Class    string
	Says     string
}

type dot struct {
	Event
	X     float64
	Class string
}

type stepData struct {
	Life
	Event
	Class string
}

// rows draws lives on one scale: every line about one of them is a step to the right.
func rows(lives []Life, steps []stepData, v *InvariantViolation) []row {
	lines := slices.Compact(slicesx.Map(steps, func(s stepData) int64 { return s.Line }))
	place := func(line int64) float64 {
		i, _ := slices.BinarySearch(lines, line)
		return 2 + 96*(float64(i)+0.5)/float64(max(1, len(lines)))
	}
	return slicesx.Map(lives, func(l Life) row {
		d := row{Life: l, Bars: bars(l, place), Breaks: place(v.Line)}
		for _, e := range l.Events {
			class := "dot"
			switch {
			case e.Code != 0, e.What == UsedAfter, e.What == FoundType:
				class = "dot bad"
			case e.What == Replaced:
				class = "dot moved"
			}
			d.Dots = append(d.Dots, dot{e, place(e.Line), class})
		}
		if v.Consequence != 0 && v.Consequence != v.Line {
			d.Later = place(v.Consequence)
		}
		return d
	})
}

// bars returns the ownership between events.
func bars(l Life, place func(int64) float64) []bar {
	var all []bar
	class, says, from := "", "", 0.0
	until := func(x float64, nextClass, nextSays string) {
		if class != "" && x > from {
			all = append(all, bar{from, x - from, class, says})
		}
		class, says, from = nextClass, nextSays, x
	}
	for _, e := range l.Events {
		x := place(e.Line)
		switch e.What {
		case Created, Resurrected, Handed, FirstSeen:
			until(x, "holding", "the object owns the impl")
		case Preserved:
			until(x, "preserved", "the impl owns the object")
		case NotDeallocated:
			until(x, "freed", "neither owns the other")
		case Deallocated:
			until(x, "freed", "deallocated")
		case Freed, NotSeenEnd:
			until(x, "", "")
		case GotObject, Accessed, SlotEmpty, EmptyAndUsed:
			if class == "" {
				until(x, "there", l.Kind.String())
			}
		case Replaced:
			until(x, "there", l.Kind.String())
		}
	}
	end := 98.0
	if len(all) > 0 && l.Events[len(l.Events)-1].What == Deallocated {
		end = from + 1 // it is not asked for any more
	}
	until(end, "", "")
	return all
}

// steps returns the events of lives in the order of the log.
func steps(lives []Life, v *InvariantViolation) []stepData {
	var all []stepData
	for _, l := range lives {
		for _, e := range l.Events {
			s := stepData{Life: l, Event: e}
			switch {
			case e.Line == v.Line && e.Code == v.Code:
				s.Class = "break"
			case e.Line == v.Consequence:
				s.Class = "later"
			case slices.Contains(v.Lines(), e.Line):
				s.Class = "evidence"
			}
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b stepData) int { return int(a.Line - b.Line) })
	return all
}
