package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// onLPU is a run on a device with two kernels of its own, one of which ran; the other ops are left
// out.
func onLPU() *Report {
	ran, never := tallied("add.Tensor", asserts.InputImpl), &OpResult{Op: "aten::abs", Kernel: engine.OwnKernel, Error: "it refuses"}
	ran.Kernel = engine.OwnKernel
	return &Report{Engine: "lib on lpu:0", All: 2, Ops: []*OpResult{never, ran}, Unrun: []Unrun{
		{"aten::chunk", engine.SharedKernel}, {"aten::mul", engine.FallbackKernel}, {"aten::neg", engine.FallbackKernel}, {"aten::sin", engine.NoKernel},
	}}
}

// The page of a program has no counts of ops by kernel, or of calls by check.
func TestPageOfWatched(t *testing.T) {
	r := onLPU()
	r.Watched = "at the level identity"
	var page bytes.Buffer
	must.Do(t, r.WriteHTML(&page))
	for _, not := range []string{"Ops: ", ">OA001</button>", "seed 0"} {
		if strings.Contains(page.String(), not) {
			t.Errorf("the page of a program has %q", not)
		}
	}
}

// Ops for which a device has no kernel of its own are counted, and listed with the reason.
func TestKernels(t *testing.T) {
	r := onLPU()
	want := []Served{{engine.OwnKernel, 2, 1}, {engine.SharedKernel, 1, 0}, {engine.FallbackKernel, 2, 0}, {engine.NoKernel, 1, 0}}
	if diff := cmp.Diff(want, r.Totals().Served); diff != "" {
		t.Error(diff)
	}
	var text, page bytes.Buffer
	must.Do(t, r.WriteText(&text, Verbose))
	must.Do(t, r.WriteHTML(&page))
	for _, want := range []string{"seed 0", "crashes", "cases ran", "Ops: ", "Coverage", "why it never ran", ">OA001</button>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	const line = "ran, of those for the device: 1 of 2 with a kernel of the device's own, 0 of 1 with one of all devices, " +
		"0 of 2 without, which the device's fallback serves, 0 of 1 with none"
	for name, got := range map[string]string{"text": text.String(), "page": strings.ReplaceAll(page.String(), "&#39;", "'")} {
		if !strings.Contains(got, line) {
			t.Errorf("the %s lacks the numbers:\n%s", name, got)
		}
	}
	results := r.Results()
	for _, u := range r.Unrun {
		i := slices.IndexFunc(results, func(s asserts.Result) bool { return s.Op == u.Op })
		if i < 0 || results[i].Status != asserts.Skipped || !strings.HasPrefix(results[i].Reason, "not run: ") || !strings.Contains(page.String(), `"op":"`+u.Op+`"`) {
			t.Errorf("%s: %+v", u.Op, results)
		}
	}
	for _, words := range []string{"that of all devices", "whose fallback serves it", "it has no kernel for the device"} {
		if n := slices.IndexFunc(results, func(s asserts.Result) bool { return strings.Contains(s.Reason, words) }); n < 0 {
			t.Errorf("no result says %q", words)
		}
	}
}

// A run on the CPU has no such numbers.
func TestKernelsOfCPU(t *testing.T) {
	var text, page bytes.Buffer
	must.Do(t, failing().WriteText(&text, Verbose))
	must.Do(t, failing().WriteHTML(&page))
	if strings.Contains(text.String(), "for the device") || strings.Contains(page.String(), `id="kernel"`) {
		t.Errorf("it speaks of kernels for a device:\n%s", text.String())
	}
}

// Merged reports have the ops of all, ordered by name.
func TestMergeKernels(t *testing.T) {
	one, two := onLPU(), onLPU()
	one.Shard, two.Shard = Shard{Index: 1, Of: 2, Ops: 2}, Shard{Index: 2, Of: 2, Ops: 2}
	one.Ops, two.Ops = one.Ops[:1], two.Ops[1:]
	one.Unrun, two.Unrun = onLPU().Unrun[2:], onLPU().Unrun[:2]
	merged := must.Get(Merge([]string{"1", "2"}, []*Report{one, two}))(t)
	if diff := cmp.Diff(onLPU().Unrun, merged.Unrun); diff != "" {
		t.Error(diff)
	}
}
