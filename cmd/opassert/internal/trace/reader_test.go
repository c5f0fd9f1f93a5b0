package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// An outcome is the result of reading a log.
func outcome(write func(*Reader)) (LogReport, []Life) {
	var lives []Life
	r := NewReader("", func(l Life) { lives = append(lives, l) })
	write(r)
	return r.Close(), lives
}

var comparable = cmp.Options{cmp.AllowUnexported(InvariantViolation{}, causeLines{})}

var number = regexp.MustCompile("[0-9]+")

// The pieces in which a log is written make no difference, its bytes are unchanged,
// every named line is one of the log, and nothing panics.
func FuzzReader(f *testing.F) {
	logs, _ := filepath.Glob("testdata/*.*")
	for i, name := range logs {
		log := must.Get(os.ReadFile(name))(f)
		f.Add(log[:min(len(log), 2500)], uint16(i*7+1)) // short inputs are minimised quickly
	}
	f.Add([]byte("pid=3 17 [a.cpp:1] (PyObject: 0x1) deallocating storage PyObject step 3\n"), uint16(2))
	f.Add([]byte("[a.cpp:1] (0x1), created storage PyObject of type T at 0x1\n[a.cpp:1] (PyObject: 0x1) deallocating storage PyObject\n[a.cpp:1] (0x1) PyObjectSlot points to PyObject at 0x1"), uint16(3))
	f.Fuzz(func(t *testing.T, log []byte, piece uint16) {
		before := bytes.Clone(log)
		whole, wholeLives := outcome(func(r *Reader) { r.Write(log) })
		if !bytes.Equal(log, before) {
			t.Fatal("Write changed its caller's bytes")
		}
		parts, partLives := outcome(func(r *Reader) {
			for p := range slices.Chunk(log, int(piece)+1) {
				if n, err := r.Write(p); n != len(p) || err != nil {
					t.Fatalf("wrote %d of %d, %v", n, len(p), err)
				}
			}
		})
		if !reflect.DeepEqual(whole, parts) { // cmp is slow
			t.Fatalf("report in pieces of %d (-whole +pieces)\n%s", piece, cmp.Diff(whole, parts, comparable))
		}
		if !reflect.DeepEqual(wholeLives, partLives) {
			t.Fatalf("lives in pieces of %d (-whole +pieces)\n%s", piece, cmp.Diff(wholeLives, partLives))
		}
		numbers := map[int64]bool{}
		for i, line := range strings.Split(string(log), "\n") {
			numbers[int64(i+1)] = true
			for _, digits := range number.FindAllString(string(uncolored([]byte(line))), -1) {
				n, _ := strconv.ParseInt(digits, 10, 64)
				numbers[n] = true
			}
		}
		for _, v := range whole.Violations {
			named := append(v.Lines(), v.Line)
			if v.Consequence != 0 {
				named = append(named, v.Consequence)
			}
			for _, n := range named {
				if !numbers[n] {
					t.Fatalf("line %d of %s is not one of the log's", n, v.Code)
				}
			}
		}
		for _, l := range wholeLives {
			if len(l.Events) > MaxEvents {
				t.Fatalf("%d events kept", len(l.Events))
			}
		}
		html := NewHTML("log")
		for _, l := range wholeLives {
			html.Life(l)
		}
		must.Do(t, errors.Join(whole.WriteText(io.Discard), whole.WriteJSON(io.Discard), html.Write(io.Discard, whole)))
	})
}

func TestLongLines(t *testing.T) {
	line := "[a.cpp:1] (0x10), created storage PyObject of type T at 0x20"
	long := strings.Repeat("x", maxLine+1)
	for _, log := range []string{
		long + line + "\n" + line + "\n", long + strings.Repeat("x", 500) + line + "\n" + line + "\n", line + "\n" + long, long + "\n" + line, long + "\n" + long + "\n\n" + line,
	} {
		for _, piece := range []int{1 << 20, 1000, 100} {
			report, lives := outcome(func(r *Reader) {
				for p := range slices.Chunk([]byte(log), piece) {
					r.Write(p)
				}
			})
			if report.Records != 1 || len(lives) != 2 || report.Lines != int64(strings.Count(strings.TrimSuffix(log, "\n"), "\n")+1) {
				t.Errorf("%d records in %d lines, %d lives", report.Records, report.Lines, len(lives))
			}
		}
	}
}

// The truncated name of a type, at the end of a log, is not another type.
func TestCutType(t *testing.T) {
	log := "[a.cpp:1] (0x10), created storage PyObject of type torch.storage.UntypedStorage at 0x20\n" +
		"[a.cpp:1] (0x10) PyObjectSlot points to PyObject at 0x20\n[a.cpp:1] (0x10) PyObjectSlot's PyObject type: "
	for typ, want := range map[string]int{"torch.stor": 0, "torch.stor\n": 1, "dict": 1} {
		if report, _ := follow(log + typ); len(report.Violations) != want {
			t.Errorf("%q: %d violations, want %d", typ, len(report.Violations), want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	empty, prose := filepath.Join(dir, "empty"), filepath.Join(dir, "prose")
	for name, text := range map[string]string{empty: "", prose: "one\ntwo\n\x00\xff"} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o666))
	}
	for name, want := range map[string]string{
		empty: empty + ":1:1: none of the 0 lines", prose: prose + ":1:1: none of the 3 lines", dir: dir,
	} {
		if _, err := Read(name, "", func(Life) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "no"), "", func(Life) {}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A long life keeps its beginning, its end and its violations.
func TestLongLife(t *testing.T) {
	var log strings.Builder
	fmt.Fprintln(&log, "[a.cpp:1] (0x10), created storage PyObject of type T at 0x20")
	for range 1000 {
		fmt.Fprintln(&log, "[a.cpp:1] (PyObject: 0x20) preserving PyObject\n[a.cpp:1] (0x10) PyObject was preserved, resurrecting")
	}
	fmt.Fprintln(&log, "[a.cpp:1] (0x10) PyObject was preserved, resurrecting")
	for range 1000 {
		fmt.Fprintln(&log, "[a.cpp:1] (PyObject: 0x20) preserving PyObject\n[a.cpp:1] (0x10) PyObject was preserved, resurrecting")
	}
	report, lives := follow(log.String())
	if len(report.Violations) != 1 || report.Violations[0].Line != 2002 {
		t.Fatal(foundIn(report))
	}
	l := lives[0]
	if l.Address != 0x20 || len(l.Events) != MaxEvents || l.Dropped != 4002-MaxEvents || l.Events[0].What != Created || l.Events[MaxEvents-1].Line != 4002 {
		t.Errorf("%d events kept, %d dropped: %v", len(l.Events), l.Dropped, l.Events)
	}
	if !l.Broken() {
		t.Error("what broke was dropped")
	}
}

// Tensors and impls, whose end the log never shows, are forgotten eventually.
func TestForgets(t *testing.T) {
	r := NewReader("", func(Life) {})
	for i := range 150_000 {
		fmt.Fprintf(r, "[a.cpp:1] (tensor PyObject: %#x) storage data: %#x\n[a.cpp:1] (%#x) PyObjectSlot is empty, use_count:2\n", i+1, i+1, i+1)
	}
	if n := len(r.world("").tensors) + len(r.world("").impls); n > 4*sweepAbove+2*sweepEvery {
		t.Errorf("%d tensors and impls kept", n)
	}
	runtime.KeepAlive(r)
}

// Colours of a terminal are not part of a line.
func TestUncolored(t *testing.T) {
	for line, want := range map[string]string{"[a.cpp:1] x": "[a.cpp:1] x", "\x1b[1;31m[a.cpp:1]\x1b[0m x\x1b[": "[a.cpp:1] x", "\x1bMx": "x"} {
		if got := string(uncolored([]byte(line))); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// Numbers and names before a line tell its process, its number, and whether lines are
// missing before it.
func TestPrefixes(t *testing.T) {
	const said = "[a.cpp:1] (0x10), hermetic"
	for _, tt := range []struct {
		log  string
		want string // by process: its last line, holes met and records
		cut  int64  // the truncated line
	}{
		{said + "\n", ": 1 0 1", 0},
		{"0: " + said + "\n1: " + said + "\n0: " + said + "\n", "0: 3 0 2, 1: 2 0 1", 0},
		{"0: hm " + said + "\n", "0: 1 0 1", 0},
		{"7: " + said + "\n8: " + said + "\n", ": 8 1 2", 0},
		{"1 " + said + "\n1 " + said + "\n", ": 1 1 2", 0},
		{"70000: " + said + "\n70000: " + said + "\n", ": 70000 2 2", 0},
		{"1 " + said + "\n2 prose\n3 " + said + "\n", ": 3 0 2", 0},
		{"1 " + said + "\n9 prose\n10 " + said + "\n", ": 10 1 2", 0},
		{"[rank1]: 7 " + said + "\n[rank1]: 8 " + said + "\n", "rank1: 8 1 2", 0},
		{"[rank1]: 7 " + said + "\n[rank1]: 9 " + said + "\n", "rank1: 9 2 2", 0},
		{"[rank1]: " + said + "\n", "rank1: 1 0 1", 0},
		{"1 [rank1]: 7 " + said + "\n", "rank1: 1 0 1", 0},
		{"7" + said + "\n", ": 1 0 1", 0},
		{said + "\n...\n" + said + "\n", ": 3 1 2", 0},
		{said + "\nprose", ": 1 0 1", 2}, {said + "\nprose\n", ": 1 0 1", 0}, {said + "\n  ", ": 1 0 1", 0},
		{"1 " + said + "\n2 prose", ": 1 0 1", 2}, {"prose\n1 " + said + "\n2 prose", ": 1 0 1", 2},
		{"[a.cpp:1] (0x10) PyObjectSl\n", ": 1 1 0", 0}, {"[a.cpp:1] (0x10) something else\n", ": 1 0 0", 0},
		{"[a.cpp:1] (0x10) PyObjectSl", ": 1 0 0", 1},
	} {
		r := NewReader("", func(Life) {})
		r.Write([]byte(tt.log))
		r.Close()
		var words []string
		for name, w := range r.worlds {
			if w.number > 0 {
				words = append(words, fmt.Sprintf("%s: %d %d %d", name, w.number, w.follower.gaps, w.records))
			}
		}
		slices.Sort(words)
		if got := strings.Join(words, ", "); got != tt.want || r.cutAt != tt.cut {
			t.Errorf("%q: %s, cut at %d, want %s, %d", tt.log, got, r.cutAt, tt.want, tt.cut)
		}
	}
}

// Only the last message of a truncated line may be truncated.
func TestCutAfterAnother(t *testing.T) {
	points := "[a.cpp:1] (0x10) PyObjectSlot points to PyObject at 0x20"
	for log, want := range map[string]int{points: 0, points + "\n": 1, points + " [b.cpp:2] (0x10), hermetic": 1} {
		if _, lives := follow(log); len(lives) != want {
			t.Errorf("%q: %d lives, want %d", log, len(lives), want)
		}
	}
}
