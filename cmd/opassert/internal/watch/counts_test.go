package watch

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// These tests need no libtorch: they write what the watcher would write.

// twoOps is a run whose processes know the ops a::f, the number 0, and a::g.
func twoOps(config Config) *run {
	return &run{config: config, records: make(map[string]records), processes: map[int]string{9: "", 7: "2"}, ops: ops{all: []*watchedOp{{name: "a::f"}, {name: "a::g"}}}}
}

// Of each op the calls with the lowest hashes are kept, without strings unless asked for.
func TestRecordedCalls(t *testing.T) {
	call := func(op, hash int64, fields ...string) []byte {
		return append(words(op, hash), strings.Join(fields, "\x1f")...)
	}
	r := twoOps(Config{Record: 2})
	for _, data := range [][]byte{
		call(0, 1, "self", "float32[2]", "mode", "'fast'"), call(0, 3, "self", "int64[3]"), call(0, 2, "self", "bool[1]"),
		call(1, 5, "n", "1"), call(1, 6, "n", "1"), call(1, 1), call(1, 2, "alone"),
	} {
		must.Do(t, r.record(data))
	}
	report := OpReport{records: r.records}
	want := map[string][]string{"a::f": {`{self: "bool[1]"}`, `{self: "float32[2]"}`}, "a::g": {"{}"}}
	if got := report.Recorded(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r = twoOps(Config{Record: 1, Strings: true})
	must.Do(t, r.record(call(0, 3, "self", "float32[2]", "mode", "'fast'")))
	if got := r.records["a::f"][3]; got != `{self: "float32[2]", mode: "'fast'"}` {
		t.Errorf("with strings: %s", got)
	}
	for _, data := range [][]byte{nil, words(0), call(2, 1), call(-1, 1)} {
		if err := r.record(data); err == nil {
			t.Errorf("%v is a call", data)
		}
	}
	var text strings.Builder
	must.Do(t, (&OpReport{records: r.records}).WriteCases(&text))
	if !strings.HasPrefix(text.String(), "# Distinct calls") || !strings.Contains(text.String(), "a::f") {
		t.Errorf("the cases are %s", text.String())
	}
	if broken := brokenOnce(true); report.WriteCases(&broken) == nil {
		t.Error("cases are written without their first line")
	}
}

// A brokenOnce is a file whose first line cannot be written.
type brokenOnce bool

func (b *brokenOnce) Write(text []byte) (int, error) {
	if *b {
		*b = false
		return 0, os.ErrClosed
	}
	return len(text), nil
}

// A backward that reaches the result of an op without a formula is one violation, at the call.
func TestBackwardOfCalls(t *testing.T) {
	r := newHeard()
	op := &asserts.Op{Name: "a::f", Results: make([]asserts.Subject, 2)}
	r.ops.all = []*watchedOp{{name: "a::f", judged: op, followed: true}, {name: "a::g", judged: op}}
	p := &process{run: r.run, pid: 7}
	for how, saw := range backwards {
		clear(r.findings.byKey)
		must.Get(p.backward(append(words(0, 1, how), "C"...)))(t)
		if all := r.findings.sorted(); len(all) != 1 || all[0].Code != asserts.AutogradKernel || all[0].Saw != saw.saw || all[0].Breaks != saw.breaks || all[0].Fix != addFormula {
			t.Errorf("backward %d: %v", how, all)
		}
	}
	clear(r.findings.byKey)
	for name, data := range map[string][]byte{
		"cut short": words(0, 1), "without frames": words(0, 1, backwardEnds), "unknown": append(words(0, 1, 99), 'C'), "of an unknown op": append(words(2, 1, backwardEnds), 'C'),
		"of an op that is not followed": append(words(1, 1, backwardEnds), 'C'), "before the results": append(words(0, -1, backwardEnds), 'C'), "beyond the results": append(words(0, 2, backwardEnds), 'C'),
	} {
		if _, err := p.backward(data); err == nil || len(r.findings.sorted()) > 0 {
			t.Errorf("a backward %s is recorded: %v", name, r.findings.sorted())
		}
	}
}

// countsRecord is the record of an op with counts of its calls with contents, and of writes of its
// arguments.
func countsRecord(content int64, written ...int64) []byte {
	w := make([]int64, countsSize/8)
	w[7] = content
	copy(w[talliesSize/8+2*16+2*countsCodes:], written)
	return words(w...)
}

func TestCountsOfOps(t *testing.T) {
	data := append(countsRecord(5, 20, 0, 0b111, 21, 1, 0b11), countsRecord(6)...)
	counts := must.Get(readCounts(bytes.NewReader(data), 2))(t)
	for i, want := range []int64{5, 6} {
		if counts[i].content != want {
			t.Errorf("op %d has %d calls with contents, want %d", i, counts[i].content, want)
		}
	}
	for arg, want := range map[int]string{0: "20 3 false", 1: "21 2 true", 2: "0 0 false", countsCodes: "0 0 false"} {
		calls, sizes, changed := counts[0].writes(arg)
		if got := fmt.Sprint(calls, sizes, changed); got != want {
			t.Errorf("argument %d: %s, want %s", arg, got, want)
		}
	}
	if _, err := readCounts(bytes.NewReader(data), 3); err == nil {
		t.Error("counts are read that are missing")
	}
}

// lostIn is a file of counts in which processes, each with an error, could not reach opassert.
type lostIn []int64

func (l lostIn) ReadAt(to []byte, at int64) (int, error) {
	if at != countsOps*countsSize || l == nil {
		return 0, os.ErrInvalid
	}
	return copy(to, words(l...)), nil
}

func TestLostProcesses(t *testing.T) {
	eperm := fmt.Sprint(syscall.EPERM)
	many := lostIn{lostMost + 2}
	for range lostMost {
		many = append(many, 5, int64(syscall.EPERM))
	}
	for _, tt := range []struct {
		name string
		file lostIn
		want []string
	}{
		{"none", lostIn{0}, nil},
		{"two", lostIn{2, 5, int64(syscall.EPERM), 6, int64(syscall.EPERM)}, []string{"process 5 (sh) could not reach opassert: " + eperm, "process 6 (a fork) could not reach opassert: " + eperm}},
		{"more than are listed", many, append(slices.Repeat([]string{"process 5 (sh) could not reach opassert: " + eperm}, lostMost), "2 more processes could not reach opassert")},
	} {
		if got := must.Get(readLost(tt.file, map[int]string{5: "sh"}))(t); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := readLost(lostIn(nil), nil); err == nil {
		t.Error("processes are read that are missing")
	}
}

// An argument that no call of many changed is a note, if the schema has it written in each call.
func TestUnwrittenArguments(t *testing.T) {
	never := []int64{20, 0, 0b111}
	for _, tt := range []struct {
		name    string
		content int64
		written []int64
		change  func(op *watchedOp, s *asserts.Subject)
		note    bool
	}{
		{"never written", 20, never, func(*watchedOp, *asserts.Subject) {}, true},
		{"without contents", 0, never, func(*watchedOp, *asserts.Subject) {}, false},
		{"of a schema that is not read", 20, never, func(op *watchedOp, _ *asserts.Subject) { op.judged = nil }, false},
		{"waived", 20, never, func(op *watchedOp, _ *asserts.Subject) {
			op.excused = []asserts.Excuse{{Code: asserts.SchemaLint, Symptom: asserts.Unwritten}}
		}, false},
		{"waived for another symptom", 20, never, func(op *watchedOp, _ *asserts.Subject) {
			op.excused = []asserts.Excuse{{Code: asserts.SchemaLint, Symptom: "lost-copy"}}
		}, true},
		{"changed", 20, []int64{20, 1, 0b111}, func(*watchedOp, *asserts.Subject) {}, false},
		{"of few calls", 20, []int64{19, 0, 0b111}, func(*watchedOp, *asserts.Subject) {}, false},
		{"only read", 20, never, func(_ *watchedOp, s *asserts.Subject) { s.Write = false }, false},
		{"inside", 20, never, func(_ *watchedOp, s *asserts.Subject) { s.Inside = true }, false},
		{"optional", 20, never, func(_ *watchedOp, s *asserts.Subject) { s.Type = "Tensor(a!)?" }, false},
	} {
		r := newHeard()
		r.processes = map[int]string{9: "", 7: "2"}
		op := &asserts.Op{Name: "a::f", Schema: "f(int n, Tensor(a!) x) -> ()", Args: []asserts.Subject{{Index: 1, Name: "x", Type: "Tensor(a!)", Write: true}}}
		watched := &watchedOp{name: "a::f", judged: op}
		tt.change(watched, &op.Args[0])
		r.ops.all = []*watchedOp{watched}
		r.noteUnwritten(must.Get(readCounts(bytes.NewReader(countsRecord(tt.content, tt.written...)), 1))(t))
		noted := len(r.findings.sorted()) == 1 && r.findings.sorted()[0].Note != "" && slices.Equal(r.findings.sorted()[0].Pids, []int{7})
		if noted != tt.note || !tt.note && len(r.findings.sorted()) > 0 {
			t.Errorf("%s: %+v", tt.name, r.findings.sorted())
		}
	}
}
