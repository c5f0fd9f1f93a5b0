package watch

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// fakeTensorText is a tensor in the form of fakes.py.
func fakeTensorText(impl int, dtype, device string, size int) string {
	return fmt.Sprintf(`{"tensor": %d, "storage": %d, "dtype": %q, "device": %q, "sizes": [[%d, %[5]d]], "strides": [1], "offset": 0}`, impl, impl+1, dtype, device, size)
}

// fakeText is the call of an op or of its fake, with a setting and a result.
func fakeText(setting int, result, more string) string {
	return fmt.Sprintf(`{"op": "t::f", "site": ["ops.py", 3], "arguments": [[%s], []], "values": [%d], "results": [[%s]]%s}`, fakeTensorText(1, "float32", "cpu", 2), setting, result, more)
}

// A faking is a process that sends records of fakes, of an op with and of one without
// a fake.
type faking struct {
	*process
	waived []asserts.Excuse
	found  []*OpFinding
}

func newFaking(t *testing.T, compiled bool) *faking {
	t.Helper()
	record := make([]byte, 2*countsSize)
	if compiled {
		binary.NativeEndian.PutUint64(record[countsSize+5*8:], 1) // faked is the record of the second op
	}
	file := filepath.Join(t.TempDir(), "counts")
	must.Do(t, os.WriteFile(file, record, 0o600))
	counts := must.Get(os.Open(file))(t)
	t.Cleanup(func() { counts.Close() })
	f := new(faking)
	op := &asserts.Op{
		Name: "t::f", Schema: "f(Tensor x, int n) -> Tensor", Args: []asserts.Subject{{Name: "x", Type: "Tensor"}},
		Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
	}
	on := func(string) (engine.Checks, error) {
		return engine.Checks{Waived: f.waived}, nil
	}
	f.process = &process{run: &run{
		config: Config{Policy: asserts.Aware()}, counts: counts, ops: ops{all: []*watchedOp{{name: "t::f", faked: op, on: on}, {name: "t::g"}}},
		findings: findings{byKey: make(map[string]*OpFinding), held: make(reporters), first: func(found *OpFinding) { f.found = append(f.found, found) }},
		skips:    make(map[opSkip]int), faked: make(map[int64]int),
	}}
	return f
}

// send sends a record of the call of an op and of its fake, in a context.
func (f *faking) send(op int64, call, answer string) error {
	data := binary.NativeEndian.AppendUint64(nil, uint64(op))
	data = binary.NativeEndian.AppendUint64(data, 1)
	data = binary.NativeEndian.AppendUint64(data, 7)
	return f.fake(append(data, call+"\n"+answer+"\nP  File \"user.py\", line 9 in main\n"...))
}

// A kernel is compared with its fake, or without one with the kernel for the CPU; an
// unreadable record is an error, and a fake that was not called is a skip.
func TestFakeRecords(t *testing.T) {
	same, other, far := fakeTensorText(3, "float32", "cpu", 2), fakeTensorText(3, "float64", "cpu", 2), fakeTensorText(3, "float32", "lpu:0", 2)
	missing := fakeText(1, "", `, "missing": true, "site": ["", 0]`)
	beside := fakeText(1, "", `, "missing": true, "site": ["", 0], "beside": `+fakeText(1, other, ""))
	const none = "it has a kernel and no fake"
	for _, tt := range []struct {
		name         string
		call, answer string
		compiled     bool
		waived       bool
		found        string // what was seen
		site         string
		skip         string
	}{
		{name: "alike", call: fakeText(1, same, ""), answer: fakeText(1, same, "")},
		{name: "another dtype", call: fakeText(1, same, ""), answer: fakeText(1, other, ""), found: "the kernel returned float32, its fake float64", site: "ops.py:3"},
		{name: "another dtype, beside the CPU's", call: fakeText(1, same, ""), answer: fakeText(1, other, `, "beside": `+fakeText(1, same, "")), found: "the kernel returned float32, its fake float64", site: "ops.py:3", skip: unkept},
		{name: "another dtype, waived", call: fakeText(1, same, ""), answer: fakeText(1, other, ""), waived: true},
		{name: "not called", call: fakeText(1, same, ""), answer: `{"unknown": "no Python"}`, skip: "no Python"},
		{name: "missing", call: fakeText(1, same, ""), answer: missing, skip: uncompiled},
		{name: "missing, and compiled", call: fakeText(1, same, ""), answer: missing, compiled: true, found: none, site: "user.py:9"},
		{name: "missing, beside the CPU's", call: fakeText(1, same, ""), answer: beside, found: "dtype float32, on cpu float64", site: "user.py:9", skip: unkept},
		{name: "missing, beside the CPU's, and compiled", call: fakeText(1, same, ""), answer: beside, compiled: true, found: none, site: "user.py:9", skip: unkept},
		{
			name: "raises, beside the CPU's", call: fakeText(1, same, ""), answer: `{"unknown": "it depends on contents", "beside": ` + fakeText(1, other, "") + `}`,
			found: "dtype float32, on cpu float64", site: "user.py:9", skip: unkept + "; it depends on contents",
		},
		{name: "another device, and not called", call: fakeText(1, far, ""), answer: `{"unknown": "no Python"}`, skip: "no Python", found: "it is on lpu:0, and every argument on cpu", site: "user.py:9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFaking(t, tt.compiled)
			if tt.waived {
				f.waived = []asserts.Excuse{{Code: asserts.MetaAlias}}
			}
			must.Do(t, f.send(0, tt.call, tt.answer))
			found, site := "", ""
			for _, at := range f.found {
				found += at.Saw
				if !strings.HasPrefix(at.Call, "f(x=") {
					t.Errorf("the call is %q", at.Call)
				}
				site += fmt.Sprintf("%s:%d", at.Site[0].File, at.Site[0].Line)
			}
			if found != tt.found || site != tt.site {
				t.Errorf("found %q at %q, want %q at %q", found, site, tt.found, tt.site)
			}
			var reasons []string
			for s := range f.run.skips {
				reasons = append(reasons, s.reason)
			}
			slices.Sort(reasons)
			skip := strings.Join(reasons, "; ")
			if skip != tt.skip || f.run.faked[0] != 1 {
				t.Errorf("skipped %q of %d, want %q", skip, f.run.faked[0], tt.skip)
			}
		})
	}
}

// A truncated record, one of an unknown op, and one without the call are errors.
func TestFakeRecordsThatCannotBeRead(t *testing.T) {
	f := newFaking(t, false)
	same := fakeText(1, fakeTensorText(3, "float32", "cpu", 2), "")
	for want, err := range map[string]error{
		"is cut short": f.fake(make([]byte, 16)), "a fake has an unknown op": f.send(9, same, same), "fake has an unknown op": f.send(1, same, same),
		"not plain": f.send(0, `{"unknown": "not plain"}`, same),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Violations about other returns are added, and those about a return with a violation
// are not.
func TestAddVerdicts(t *testing.T) {
	of := func(index int) *asserts.Violation {
		return &asserts.Violation{Subject: asserts.Place{Return: true, Index: index}}
	}
	verdict := asserts.Verdict{Violations: asserts.Violations{of(0)}}
	add(&verdict, asserts.Verdict{Violations: asserts.Violations{of(0), of(1)}})
	if len(verdict.Violations) != 2 || verdict.Violations[1].Subject.Index != 1 {
		t.Errorf("the verdict has %v", verdict.Violations)
	}
}
