package watch

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/schema"
)

// Whatever a process sends, the run answers or reports an error, and counts no more
// processes or findings than frames.
func FuzzFrames(f *testing.F) {
	first := binary.NativeEndian.AppendUint64(nil, 0)
	for _, seed := range []struct {
		kind byte
		data string
	}{
		{frameHello, "12\n1\n\n2.6.0\n/torch/lib\n2"}, {frameHello, "x\n\n\n\n\n"}, {frameOp, "-a::b\x00"}, {frameNames, "a::b c"},
		{frameCall, string(first) + strings.Repeat("\x00", 24)}, {frameSite, "1\nm.C\x1fm.B.f\x1fm.py\x1f3\nP  File \"a.py\", line 3 in f\n"}, {frameSince, "12"}, {frameSince, "x"}, {frameRecord, strings.Repeat("\x01", 16) + "x\x1f1\x1f"},
	} {
		f.Add(seed.kind, []byte(seed.data), seed.kind, []byte(seed.data))
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte, kind2 byte, data2 []byte) {
		if kind == frameNotWatched || kind2 == frameNotWatched {
			return // it goes to the object, which is absent here
		}
		plan := func(string, string, *schema.Op) (engine.Checks, error) { return engine.Checks{}, nil }
		r := &run{
			config:    Config{Policy: asserts.Aware(), Record: 4},
			ops:       ops{byText: make(map[string]*watchedOp), plan: plan},
			findings:  findings{byKey: make(map[string]*OpFinding), held: make(reporters)},
			processes: make(map[int]string), names: make(map[string]bool), skips: make(map[opSkip]int), records: make(map[string]records), origins: newOrigins(),
		}
		p := &process{run: r, pending: make(map[int64][]*asserts.Violation)}
		for _, frame := range []preload.Message{{Kind: kind, Data: data}, {Kind: kind2, Data: data2}} {
			if _, err := p.answer(frame); err != nil && err.Error() == "" {
				t.Fatal("an empty error")
			}
		}
		if len(r.processes) > 2 || len(r.findings.byKey) > 0 {
			t.Fatalf("%d processes and %d findings of two frames", len(r.processes), len(r.findings.byKey))
		}
	})
}

// A fake's record has the contexts in which the op was called, and is rejected if it
// is truncated.
func TestFakeHead(t *testing.T) {
	op, contexts, text := fakeHead(append(words(7, 2, 3, 5), "{}\n"...))
	if op != 7 || !slices.Equal(contexts, []int64{3, 5}) || text != "{}\n" {
		t.Errorf("op %d, contexts %v, text %q", op, contexts, text)
	}
	for _, data := range [][]byte{nil, words(7)[:7], words(7), words(7, 0), words(7, 2, 3), words(7, -1, 3)} {
		_, err := (&process{run: new(run)}).answer(preload.Message{Kind: frameFake, Data: data})
		if err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%v: %v", data, err)
		}
	}
}
