package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
)

// A runRecord is the last element of a report in JSON: the data of the run that Merge needs besides
// the results. Times are left out, so that equal runs write equal bytes.
type runRecord struct {
	Status   string   `json:"status"` // "run"
	RunCount RunCount `json:"reach"`
	Served   []Served `json:"served,omitempty"`
	Run      *Report  `json:"run"`
}

// WriteJSON writes the results as an array, and after them the run itself.
func (r *Report) WriteJSON(w io.Writer) error {
	all := slicesx.Map(r.Results(), func(result asserts.Result) any { return result })
	return printable.JSON(w, append(all, runRecord{"run", r.runCount(), r.served(), r.timeless()}), "  ")
}

func (r *Report) timeless() *Report {
	copied := *r
	copied.Ops = slices.Clone(r.Ops)
	for i, op := range copied.Ops {
		o := *op
		o.Took = 0
		copied.Ops[i] = &o
	}
	return &copied
}

// ReadReport reads the output of WriteJSON.
func ReadReport(src io.Reader) (*Report, error) {
	var all []json.RawMessage
	var last runRecord
	decoder := json.NewDecoder(src)
	err := decoder.Decode(&all)
	if err == nil && decoder.More() {
		err = errors.New("there is text after the report; each report is a file of its own")
	}
	if n := len(all); err == nil && n > 0 {
		err = json.Unmarshal(all[n-1], &last)
	}
	if err == nil && (last.Status != "run" || !last.Run.whole()) {
		err = errors.New("the run at its end is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("want the output of opassert check -json: %w", err)
	}
	return last.Run, nil
}

// whole reports whether everything exists that a report refers to.
func (r *Report) whole() bool {
	noFinding := func(f *Finding) bool { return f == nil || f.Violation == nil }
	noResult := func(op *OpResult) bool { return op == nil || slices.ContainsFunc(op.Findings, noFinding) }
	return r != nil && (r.Shard.Of == 0 || r.Shard.Valid()) && !slices.ContainsFunc(r.Ops, noResult)
}

// Merge combines the reports of shards. names are the names of the reports in errors.
func Merge(names []string, reports []*Report) (*Report, error) {
	first := reports[0]
	merged := &Report{Engine: first.Engine, Level: first.Level, Through: first.Through, Seed: first.Seed,
		Cases:   first.Cases,
		Command: first.Command, Of: first.Of}
	in := make(map[string]string) // the report with the op
	for i, r := range reports {
		type setting struct{ what, a, b string }
		settings := []setting{
			{"engine", first.Engine, r.Engine}, {"level", first.Level.String(), r.Level.String()},
			{"key that calls begin at", cmp.Or(first.Through, "backend"), cmp.Or(r.Through, "backend")},
			{"seed", fmt.Sprint(first.Seed), fmt.Sprint(r.Seed)},
			{"number of cases", fmt.Sprint(first.Cases), fmt.Sprint(r.Cases)},
			{"number of ops in all shards", fmt.Sprint(first.Shard.Ops), fmt.Sprint(r.Shard.Ops)},
		}
		for _, name := range []string{"kernels", "opassert", "allowlists", "flags", "ops"} {
			if name == "ops" && first.Shard.Of == 0 {
				continue // parts of a run
			}
			a, b := cmp.Or(first.Of[name], "missing"), cmp.Or(r.Of[name], "missing")
			settings = append(settings, setting{"digest of the " + name, a, b})
		}
		for _, d := range settings {
			if d.a != d.b {
				return nil, fmt.Errorf("%s and %s are not of one run: the %s is %s and %s", names[0], names[i], d.what, d.a, d.b)
			}
		}
		for _, op := range r.Ops {
			if other, ok := in[op.Op]; ok {
				return nil, fmt.Errorf("%s is in %s and in %s", op.Op, other, names[i])
			}
			in[op.Op] = names[i]
		}
		merged.All += r.All
		merged.Ops = append(merged.Ops, r.Ops...)
		merged.Unrun = append(merged.Unrun, r.Unrun...)
		merged.Gone = append(merged.Gone, r.Gone...)
		merged.addExcuses(r.Excuses)
		merged.Left = append(merged.Left, slices.DeleteFunc(slices.Clone(r.Left),
			func(l string) bool { return slices.Contains(merged.Left, l) })...)
	}
	merged.All = max(merged.All, first.Shard.Ops) // if a shard is missing
	slices.SortFunc(merged.Ops, func(a, b *OpResult) int { return strings.Compare(a.Op, b.Op) })
	slices.SortFunc(merged.Unrun, func(a, b Unrun) int { return strings.Compare(a.Op, b.Op) })
	return merged, missingShards(names, reports)
}

func missingShards(names []string, reports []*Report) error {
	of := reports[0].Shard.Of
	seen := make([]bool, of)
	for i, r := range reports {
		if r.Shard.Of != of {
			return fmt.Errorf("%s is a shard of %d, and %s one of %d", names[0], of, names[i], r.Shard.Of)
		}
		if of > 0 {
			seen[r.Shard.Index-1] = true
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("shard %d/%d is missing", i+1, of)
	}
	return nil
}
