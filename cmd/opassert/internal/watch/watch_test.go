package watch

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/internal/dev/must"
)

// A violation is not the kernel's if another thread wrote, or where nothing raises versions.
func TestExcusedBySurroundings(t *testing.T) {
	for _, tt := range []struct {
		around surroundings
		code   asserts.Code
		want   string
	}{
		{surroundings{}, asserts.VersionBump, ""},
		{surroundings{concurrent: true}, asserts.UndeclaredWrite, "another thread"},
		{surroundings{concurrent: true}, asserts.FreshImpl, ""},
		{surroundings{below: true}, asserts.VersionBump, "called below autograd"},
		{surroundings{below: true}, asserts.UndeclaredWrite, ""},
	} {
		if got := tt.around.excuse(tt.code); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v in %+v: %q, want %q", tt.code, tt.around, got, tt.want)
		}
	}
}

// PyTorch's own ops share what is inside tensors; of others' only the parts that autograd makes views of.
func TestHarmlessInside(t *testing.T) {
	in, out := asserts.Place{Inside: true}, asserts.Place{Aliased: true}
	for _, tt := range []struct {
		name        string
		custom      bool
		code        asserts.Code
		on, against asserts.Place
		want        string
	}{
		{"PyTorch's, of tensors", false, asserts.FreshImpl, out, out, ""},
		{"PyTorch's, of a part", false, asserts.FreshImpl, in, out, "inside a sparse"},
		{"PyTorch's, against a part", false, asserts.FreshImpl, out, in, "inside a sparse"},
		{"a library's, of a part", true, asserts.FreshImpl, in, out, ""},
		{"a library's, of a view", true, asserts.FreshImpl, asserts.Place{Inside: true, Aliased: true}, out, "a part as it lies"},
		{"a library's, of a view that shares", true, asserts.UndeclaredAlias, asserts.Place{Inside: true, Aliased: true}, out, ""},
	} {
		got := harmlessInside(&watchedOp{custom: tt.custom}, &asserts.Violation{Code: tt.code, Subject: tt.on, Against: tt.against})
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// seenTensors are tensors with an ID each, that of their storage too, and no other reference.
func seenTensors(ids ...asserts.ID) (all []asserts.Observation) {
	for _, id := range ids {
		all = append(all, asserts.Observation{Impl: id, Storage: id, ImplUses: 1, StorageUses: 1})
	}
	return all
}

// skipped returns the skips of a run that are for a reason.
func (r *reported) skipped(reason string) (skips []string) {
	for s, n := range r.skips {
		if strings.HasPrefix(s.reason, reason) {
			skips = append(skips, fmt.Sprintf("%s %v %d", s.op, s.code, n))
		}
	}
	slices.Sort(skips)
	return skips
}

// A call that has tensors inside its arguments is judged with the checks of these.
func TestJudgedWithParts(t *testing.T) {
	const inside = "inside a sparse"
	for _, tt := range []struct {
		name, op string
		parts    bool
		broken   string
		skips    []string
	}{
		{"of a library", "my::f", true, "OA007 part", nil},
		{"of PyTorch", "aten::f", true, "", []string{"aten::f OA007 1"}},
		{"without parts", "my::f", false, "OA007", nil},
	} {
		r, _ := connected(t)
		op, _, err := r.ops.meet("2.6.0", opRecord("", tt.op, "", reads, makes))
		must.Do(t, err)
		seen := &asserts.Seen{Level: asserts.Identity, Before: seenTensors(1), After: seenTensors(1), Results: seenTensors(1), ArgLens: []int{1}, ResultLens: []int{1}}
		if tt.parts {
			seen.Results, seen.ArgLens, seen.ResultLens = seenTensors(2, 1), []int{1, 0}, []int{1, 1}
		} else {
			op.parts = nil
		}
		var broken []string
		violations, count := r.judge(op, seen, surroundings{})
		count()
		for _, v := range violations {
			if broken = append(broken, v.Code.String()); v.Subject.Inside {
				broken = append(broken, "part")
			}
		}
		if got := strings.Join(broken, " "); got != tt.broken {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.broken)
		}
		equal(t, tt.name, r.skipped(inside), tt.skips...)
	}
}

// Arguments with more references afterwards are a skip of OA016 where others than the op may hold them.
func TestCountUnseen(t *testing.T) {
	for _, tt := range []struct {
		name  string
		code  asserts.Code
		level asserts.Level
		alone bool
		kept  asserts.Observation
		want  bool
	}{
		{"another reference to the tensor", asserts.KeptArgument, asserts.Content, false, asserts.Observation{ImplUses: 2, StorageUses: 1}, true},
		{"another reference to the storage", asserts.KeptArgument, asserts.Meta, false, asserts.Observation{ImplUses: 1, StorageUses: 2}, true},
		{"no other reference", asserts.KeptArgument, asserts.Content, false, asserts.Observation{ImplUses: 1, StorageUses: 1}, false},
		{"at a lower level", asserts.KeptArgument, asserts.Identity, false, asserts.Observation{ImplUses: 2, StorageUses: 1}, false},
		{"alone", asserts.KeptArgument, asserts.Content, true, asserts.Observation{ImplUses: 2, StorageUses: 1}, false},
		{"of an op without the check", asserts.InputImpl, asserts.Content, false, asserts.Observation{ImplUses: 2, StorageUses: 1}, false},
	} {
		r := counting(t, false)
		seen := &asserts.Seen{Level: tt.level, Alone: tt.alone, Before: seenTensors(1), After: []asserts.Observation{tt.kept}}
		r.countUnseen("a::f", &asserts.Op{Checks: []asserts.Check{{Code: tt.code}}}, seen)
		if got := len(r.skipped("other threads")) == 1; got != tt.want || len(r.skips) > 1 {
			t.Errorf("%s: %v", tt.name, r.skips)
		}
	}
}

// The results that are wrapper subclasses are skips of the checks of storages that found nothing.
func TestCountHidden(t *testing.T) {
	results := seenTensors(1, 2, 3)
	results[1].Traits, results[2].Traits = asserts.WrapperSubclass, asserts.WrapperSubclass|asserts.NoVersion
	op := &watchedOp{name: "a::f", judged: &asserts.Op{Checks: []asserts.Check{{Code: asserts.UndeclaredAlias}, {Code: asserts.OutputAlias}, {Code: asserts.FreshImpl}}}}
	for code, want := range map[asserts.Code][]string{
		asserts.FreshImpl: {"a::f OA007 2", "a::f OA008 2"}, asserts.UndeclaredAlias: {"a::f OA008 2"}, asserts.OutputAlias: {"a::f OA007 2"},
	} {
		r := counting(t, false)
		r.countHidden(op, &asserts.Seen{Results: results}, []*asserts.Violation{{Code: code}})
		equal(t, code.String(), r.skipped(hidden), want...)
	}
}

// Ops that are not PyTorch's are listed if no call was seen, and the threads of a process are counted once.
func TestNamesAndProcesses(t *testing.T) {
	r, p := connected(t)
	if got := p.send(frameNames, "a::f aten::add b::g a::e"); got != "" {
		t.Errorf("names are answered by %q", got)
	}
	equal(t, "registered", slices.Sorted(maps.Keys(r.names)), "a::e", "a::f", "b::g")
	equal(t, "counters", []string{fmt.Sprint(len(traitOf))}, fmt.Sprint(uncountedTrait)) // each trait's is that of its bit
	equal(t, "not seen", r.notSeen(map[string]*report.OpResult{"a::f": {}, "aten::add": {}}), "a::e", "b::g")
	for _, rank := range []string{"", "3"} {
		p.rank = rank
		r.met(p, 2)
	}
	if r.early != 2 || !maps.Equal(r.processes, map[int]string{7: "3"}) {
		t.Errorf("%d threads of the processes %v", r.early, r.processes)
	}
}

// A process asks for the counts, or for the contexts of a process by its number.
func TestMemories(t *testing.T) {
	r := counting(t, false)
	if counts, err := r.memory(0, ""); counts != r.counts || err != nil {
		t.Errorf("the counts are %v, %v", counts, err)
	}
	if contexts, err := r.memory(0, "x"); contexts != nil || err == nil {
		t.Error("x is a process")
	}
}

// The folder of a libtorch's Python package is where PyTorch's own frames are, and without headers
// nothing can be compiled for it.
func TestFit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the libraries have other names")
	}
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	write := func(name string) string {
		file := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, nil, 0o600))
		return file
	}
	r := counting(t, false)
	write("a/torch/__init__.py")
	for _, library := range []string{write("none/libm.so"), write("b/lib/libtorch_cpu.so"), write("a/torch/lib/libtorch_cpu.so")} {
		if watcher, err := r.fit(library); watcher != "" || err == nil {
			t.Errorf("%s is the watcher for %s", watcher, library)
		}
	}
	equal(t, "packages", r.packages, filepath.Join(dir, "a/torch"))
}

// A program that loads no libtorch ends as it does alone, and is not watched; one that is not
// started is an error.
func TestRunWithoutLibtorch(t *testing.T) {
	if _, err := exec.LookPath("c++"); err != nil || runtime.GOOS != "linux" {
		t.Skip("programs are watched on Linux, and what is loaded into them is made by a compiler")
	}
	config := Config{Program: preload.Program{Command: []string{"grep", "-q", "/preserve-", "/proc/self/maps"}}, Policy: asserts.Aware()}
	objects := must.Get(live.Start(live.Config{}))(t)
	defer objects.End()
	for _, tt := range []struct {
		objects *live.Watch
		status  int
	}{{nil, 1}, {objects, 0}} {
		config.Objects = tt.objects
		rep := must.Get(Run(t.Context(), config))(t)
		if rep.Status != tt.status {
			t.Errorf("with the objects %v: exit status %d, want %d", tt.objects != nil, rep.Status, tt.status)
		}
		equal(t, "not watched", rep.Unwatched, (&run{}).nothing())
	}
	config.Objects, config.Command = nil, []string{filepath.Join(t.TempDir(), "absent")}
	if rep, err := Run(t.Context(), config); rep != nil || err == nil {
		t.Errorf("a program that does not exist has the report %+v", rep)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("CXX", config.Command[0])
	if rep, err := Run(t.Context(), config); rep != nil || err == nil || !strings.Contains(err.Error(), "compiler") {
		t.Errorf("without a compiler: %v", err)
	}
}
