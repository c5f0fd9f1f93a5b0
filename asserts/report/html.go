package report

import (
	_ "embed"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

//go:embed page.html
var pageText string

// page is parsed when it is first written: a worker, which may live for one call, does not need it.
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

type pageData struct {
	Report   *Report
	Totals   Totals
	RunCount []string // the lines of the text report
	Served   string   // likewise
	Devices  []engine.Device
	Codes    []asserts.Code
	Columns  []asserts.Code // of the coverage matrix; none for a program, whose calls are not counted by check
	Findings []pageFinding
	Crashes  []pageCrash
	Rows     []pageRow // of the coverage matrix
	Lists    []string  // of value classes, which many rows share
	known    map[string]int
}

type pageFinding struct {
	*asserts.Violation
	Finding *Finding
	Shown   *Shown
	Report  string
}

type pageCrash struct {
	Op, Cause, Device, Note, Report string
	Program                         *ReproProgram
}

// A pageRow is an op in the coverage matrix. Judged, Skipped and Found are by device and code.
type pageRow struct {
	Op      string                           `json:"op"`
	Kernel  engine.KernelKind                `json:"kernel,omitempty"`
	Cases   int                              `json:"cases"`
	Ran     int                              `json:"ran"`
	Why     string                           `json:"why,omitempty"` // why it never ran
	Judged  map[engine.Device]asserts.Counts `json:"judged,omitempty"`
	Skipped map[engine.Device]asserts.Counts `json:"skipped,omitempty"`
	Found   map[engine.Device]asserts.Counts `json:"found,omitempty"`
	Tried   map[string]int                   `json:"tried,omitempty"` // the list of an argument's value classes
	Refused map[string]int                   `json:"refused,omitempty"`
}

// WriteHTML writes the report as one self-contained page.
func (r *Report) WriteHTML(w io.Writer) error {
	data := pageData{Report: r, Totals: r.Totals(), Rows: []pageRow{}, known: make(map[string]int)}
	data.Served, data.Devices = servedLine(data.Totals.Served), data.Totals.Devices.Names()
	data.Codes = slices.Collect(asserts.AllCodes.All())
	if r.Watched == "" {
		data.RunCount, data.Columns = data.Totals.lines(), data.Codes
	}
	for _, op := range r.Ops {
		for _, f := range op.Findings {
			v := r.violation(op, f)
			data.Findings = append(data.Findings, pageFinding{v, f, r.show(op, f), v.Error() + f.program()})
		}
		for _, c := range op.Crashes {
			data.Crashes = append(data.Crashes, r.pageCrash(op, c))
		}
		row := op.pageRow()
		row.Tried, row.Refused = data.lists(op.Tried), data.lists(op.Refused)
		data.Rows = append(data.Rows, row)
	}
	for _, u := range r.Unrun {
		data.Rows = append(data.Rows, pageRow{Op: u.Op, Kernel: u.Kernel, Why: u.why()})
	}
	slices.SortStableFunc(data.Findings,
		func(a, b pageFinding) int { return strings.Compare(a.Shown.Level, b.Shown.Level) })
	return page().Execute(w, data)
}

// lists adds value classes to the lists, and returns their indices.
func (d *pageData) lists(c Classes) map[string]int {
	at := make(map[string]int)
	for _, arg := range slices.Sorted(maps.Keys(c)) {
		text := strings.Join(c[arg], ", ")
		if _, ok := d.known[text]; !ok {
			d.known[text] = len(d.Lists)
			d.Lists = append(d.Lists, text)
		}
		at[arg] = d.known[text]
	}
	return at
}

func (r *Report) pageCrash(op *OpResult, c Crash) pageCrash {
	p := pageCrash{Op: op.Op, Cause: c.Cause, Device: string(c.Device), Report: r.CrashText(op, c), Program: c.Program}
	switch {
	case c.Known:
		p.Note = "known"
	case !c.Counts():
		p.Note = "not counted: " + c.excuse()
	}
	return p
}

func (op *OpResult) pageRow() pageRow {
	row := pageRow{Op: op.Op, Kernel: op.Kernel, Cases: op.Cases, Ran: op.Ran}
	if op.Ran == 0 {
		row.Why = op.Reason()
		return row
	}
	type byDevice = map[engine.Device]asserts.Counts
	row.Judged, row.Skipped, row.Found = byDevice{}, byDevice{}, byDevice{}
	for device, t := range op.Devices {
		if t.Judged == (asserts.Counts{}) {
			continue
		}
		var skipped, found asserts.Counts
		for _, s := range t.Skips {
			skipped[s.Code] += s.Count
		}
		for _, f := range op.Findings {
			if slices.Contains(f.Devices, device) {
				found[f.Violation.Code] += f.Times
			}
		}
		row.Judged[device], row.Skipped[device], row.Found[device] = t.Judged, skipped, found
	}
	return row
}
