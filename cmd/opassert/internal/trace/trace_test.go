package trace

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

// follow reads a log from memory.
func follow(log string) (LogReport, []Life) {
	var lives []Life
	r := NewReader("", func(l Life) { lives = append(lives, l) })
	r.Write([]byte(log))
	return r.Close(), lives
}

// effects returns the violations that others do not follow from.
func effects(r LogReport) []InvariantViolation {
	var all []InvariantViolation
	for _, v := range r.Violations {
		if len(r.below(&v)) == 0 {
			all = append(all, v)
		}
	}
	return all
}

// A found has the tested fields of a violation.
type found struct {
	Code        string
	Line        int64
	Object      Address
	Impl        Address
	Cause       Cause
	Consequence int64
}

func foundIn(r LogReport) []found {
	var all []found
	for _, v := range effects(r) {
		all = append(all, found{v.Code.String(), v.Line, v.Object, v.Impl, v.Cause, v.Consequence})
	}
	return all
}

func want(faults []simFault, number func(int) int64) []found {
	var all []found
	for _, f := range faults {
		w := found{preserve.SharedDealloc.String(), number(f.line), Address(f.object), Address(f.data), HermeticState, 0}
		if f.use != 0 {
			w.Consequence = number(f.use)
		}
		all = append(all, w)
	}
	return all
}

func same(line int) int64 { return int64(line) }

// Exactly the faults of a PyTorch are reported.
func TestPlays(t *testing.T) {
	faults, uses := 0, 0
	for patch := 1; patch <= 3; patch++ {
		for seed := range uint64(60) {
			p := newTorch(patch, 0)
			p.play(rand.New(rand.NewPCG(seed, uint64(patch))), 300)
			report, _ := follow(strings.Join(p.lines, "\n") + "\n")
			if diff := cmp.Diff(want(p.broken, same), foundIn(report)); diff != "" {
				t.Fatalf("patch %d, seed %d: (-want +got)\n%s", patch, seed, diff)
			}
			if report.Unknown != 0 {
				t.Fatalf("patch %d, seed %d: unknown %v", patch, seed, report.Samples)
			}
			faults += len(p.broken)
			for _, f := range p.broken {
				if f.use != 0 {
					uses++
				}
			}
			if patch == 3 && len(p.broken) > 0 {
				t.Fatal("the fixed PyTorch broke something")
			}
		}
	}
	if faults < 100 || uses < 50 {
		t.Errorf("%d faults, %d used afterwards: too few", faults, uses)
	}
	t.Logf("%d faults, %d used afterwards", faults, uses)
}

// Logs of several processes in one file, interleaved, with the numbers of its lines,
// between lines of other programs.
func TestInterleaved(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var torches []*torch
		for i := range 3 {
			p := newTorch(1+rng.IntN(3), uint64(i+1))
			p.play(rng, 200)
			torches = append(torches, p)
		}
		var log strings.Builder
		number := 1000
		numbers := make([][]int64, len(torches)) // the file's number of each line
		for {
			i := rng.IntN(len(torches) + 1)
			number++
			if i == len(torches) {
				fmt.Fprintf(&log, "%d I0808 10:12:54.887000 227 driver.py:605] step %d\n", number, number)
				continue
			}
			n := len(numbers[i])
			if n == len(torches[i].lines) {
				break
			}
			fmt.Fprintf(&log, "%d %s\n", number, torches[i].lines[n])
			numbers[i] = append(numbers[i], int64(number))
		}
		report, _ := follow(log.String())
		got := map[found]bool{}
		for _, f := range foundIn(report) {
			got[f] = true
		}
		for i, p := range torches {
			for _, f := range p.broken {
				if f.line > len(numbers[i]) {
					continue
				}
				if f.use > len(numbers[i]) {
					f.use = 0
				}
				w := want([]simFault{f}, func(n int) int64 { return numbers[i][n-1] })[0]
				if !got[w] {
					t.Fatalf("seed %d: not found: %+v in\n%v", seed, w, foundIn(report))
				}
				delete(got, w)
			}
		}
		if len(got) > 0 {
			t.Fatalf("seed %d: found too much: %v", seed, got)
		}
	}
}

// From a log with holes only faults are reported, and most of them.
func TestHoles(t *testing.T) {
	real, reported := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 4))
		p := newTorch(1+rng.IntN(3), 0)
		p.fresh = true
		p.play(rng, 300)
		broken := map[int64]bool{}
		for _, f := range p.broken {
			broken[int64(f.line)] = true
		}
		var log strings.Builder
		kept := func(i int) bool { return i/20%5 != int(seed%5) }
		for i, line := range p.lines {
			if kept(i) {
				fmt.Fprintf(&log, "%d %s\n", i+1, line)
			}
		}
		report, _ := follow(log.String())
		for _, f := range p.broken {
			if kept(f.line - 1) {
				real++
			}
		}
		for _, v := range effects(report) {
			if v.Code == preserve.SharedDealloc && !broken[v.Line] {
				t.Errorf("seed %d: line %d broke nothing: %s", seed, v.Line, v.Saw())
			}
			if v.Code != preserve.SharedDealloc && v.Found != "dict" {
				t.Errorf("seed %d: %s at line %d: %s", seed, v.Code, v.Line, v.Saw())
			}
			if v.Code == preserve.SharedDealloc {
				reported++
			}
		}
	}
	if reported*2 < real {
		t.Errorf("%d of %d violations reported", reported, real)
	}
	t.Logf("%d of %d violations reported", reported, real)
}

// writeLife writes the events of a life, but not those of a tensor whose storage stays.
func writeLife(w io.Writer, l Life) {
	replaced := func(e Event) bool { return e.What == Replaced }
	if l.Kind == Tensor && !slices.ContainsFunc(l.Events, replaced) {
		return
	}
	fmt.Fprintf(w, "%s %s", l.Kind, l.Address)
	if l.Type != "" {
		fmt.Fprintf(w, "  %s", l.Type)
	}
	if l.Kind == Object && l.Impl != 0 {
		fmt.Fprintf(w, "  of impl %s", l.Impl)
	}
	if l.World != "" {
		fmt.Fprintf(w, "  in %s", l.World)
	}
	fmt.Fprintln(w)
	for i, e := range l.Events {
		if i == MaxEvents/2 && l.Dropped > 0 {
			fmt.Fprintf(w, "       ...  %d more\n", l.Dropped)
		}
		fmt.Fprintf(w, "%10d  %s", e.Line, e)
		if e.Code != 0 {
			fmt.Fprintf(w, "   <-- %s", e.Code)
		}
		fmt.Fprintln(w)
	}
}

// The files in testdata are logs; golden has the output for each, and all lives.
func TestOutput(t *testing.T) {
	logs, err := filepath.Glob("testdata/*.*")
	if err != nil || len(logs) < 10 {
		t.Fatal(logs, err)
	}
	for _, log := range logs {
		t.Run(filepath.Base(log), func(t *testing.T) {
			var text, js bytes.Buffer
			page := NewHTML("")
			var lives strings.Builder
			report := must.Get(Read(log, "", func(l Life) { page.Life(l); writeLife(&lives, l) }))(t)
			must.Do(t, report.WriteText(&text))
			must.Do(t, report.WriteJSON(&js))
			golden.Compare(t, filepath.Join("golden", filepath.Base(log)+".txt"), text.String()+"\n"+lives.String())
			golden.Compare(t, filepath.Join("golden", filepath.Base(log)+".json"), js.String())
			golden.Compare(t, filepath.Join("golden", filepath.Base(log)+".page"), drawing(page.draw(report)))
		})
	}
}

// An impl that releases its object is freed, and has no use count left.
func TestReleasedByItsImpl(t *testing.T) {
	const (
		preserved = "c10::Storage data: 0x20, use_count: 2\npreserving PyObject\nin THPStorage_subclass_dealloc\n"
		borrowed  = preserved + "is borrowed\n"
		counted   = "c10::Storage data: 0x20, use_count: "
	)
	released := []string{"OA109 its last reference is released, though only the impl, which lives, has one", "OA102 deallocated while others hold the impl, whose slot points at it"}
	for _, tt := range []struct {
		name, release string
		want          []string
	}{
		{"freed", borrowed + counted + "0", nil},
		{"without a count", borrowed, nil},
		{"alive", borrowed + counted + "1", released},
		{"held by others", borrowed + counted + "2", released},
		{"with its impl, which it owns", counted + "1", nil},
		{"though the impl has a reference too", counted + "2", []string{"OA109 its last reference is released, though the impl, which others hold, has one", released[1]}},
	} {
		log := "(0x20) in THPStorage_Wrap\n(0x20) PyObjectSlot is empty, use_count:2\n(0x20) created storage PyObject of type T at 0x10\n(0x20) not hermetic\n(0x20) type_name: T, PyObject*: 0x10\n"
		if strings.HasPrefix(tt.name, "though") {
			log = "PyTorch 2.12.0\n" + log
		}
		for line := range strings.Lines("in THPStorage_subclass_dealloc\n" + strings.TrimSpace(tt.release) + "\ndeallocating storage PyObject\n") {
			log += "(PyObject: 0x10) " + line
		}
		r, _ := follow("[Storage.cpp:1] " + strings.ReplaceAll(strings.TrimSpace(log), "\n", "\n[Storage.cpp:1] ") + "\n")
		var got []string
		for _, v := range r.Violations {
			got = append(got, v.Code.String()+" "+v.Saw())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
