package allowlist

import (
	"errors"
	"go/scanner"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

const sample = `# exceptions
- op: add
  checks: [OA003, fresh-storage]
  reason: every overload
- op: mul_.Tensor
  checks: all
  reason: that overload
  device: cuda
  versions: ">=1.13, <2.6"
  expires: 2027-06-30
- op: neg
  checks: all
  reason: that device
  device: "lpu:1"
- op: abs
  checks: all
  reason: what packages bring
  device: privateuseone
`

func TestExcuse(t *testing.T) {
	name := func(base string, inplace bool, overload string) schema.Name {
		return schema.Name{Base: base, Inplace: inplace, Overload: overload}
	}
	cuda := Where{Device: "cuda", Version: "2.5.1+cu121", Day: day("2027-06-30")}
	with := func(change func(*Where)) Where { w := cuda; change(&w); return w }
	tests := []struct {
		name string
		op   schema.Name
		code asserts.Code
		at   Where
		want string // the entry's op
	}{
		{"on every device", name("add", false, "out"), asserts.FreshImpl, Where{Device: "cuda"}, "add"},
		{"every overload", name("add", false, "out"), asserts.FreshImpl, Where{}, "add"},
		{"the default overload too", name("add", false, ""), asserts.FreshStorage, Where{}, "add"},
		{"not the in-place op", name("add", true, "Tensor"), asserts.FreshImpl, Where{}, ""},
		{"not another check", name("add", false, "out"), asserts.InputImpl, Where{}, ""},
		{"all checks", name("mul", true, "Tensor"), asserts.InputImpl, cuda, "mul_.Tensor"},
		{"not another overload", name("mul", true, "Scalar"), asserts.InputImpl, cuda, ""},
		{"not another device", name("mul", true, "Tensor"), asserts.InputImpl, with(func(w *Where) { w.Device = "cpu" }), ""},
		{"one of the devices", name("mul", true, "Tensor"), asserts.InputImpl, with(func(w *Where) { w.Device = "cuda:1" }), "mul_.Tensor"},
		{"the device by its number", name("neg", false, ""), asserts.InputImpl, Where{Device: "lpu:1"}, "neg"},
		{"not that of another number", name("neg", false, ""), asserts.InputImpl, Where{Device: "lpu:0"}, ""},
		{"not all of the type", name("neg", false, ""), asserts.InputImpl, Where{Device: "lpu"}, ""},
		{"a device that a package brings", name("abs", false, ""), asserts.InputImpl, Where{Device: "lpu:0"}, "abs"},
		{"not PyTorch's own", name("abs", false, ""), asserts.InputImpl, Where{Device: "cuda:0"}, ""},
		{"not no device", name("abs", false, ""), asserts.InputImpl, Where{}, ""},
		{"not an unknown device", name("mul", true, "Tensor"), asserts.InputImpl, with(func(w *Where) { w.Device = "" }), ""},
		{"not a later version", name("mul", true, "Tensor"), asserts.InputImpl, with(func(w *Where) { w.Version = "2.6.0" }), ""},
		{"not an unknown version", name("mul", true, "Tensor"), asserts.InputImpl, with(func(w *Where) { w.Version = "" }), ""},
		{"not the day after", name("mul", true, "Tensor"), asserts.InputImpl, with(func(w *Where) { w.Day = day("2027-07-01") }), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := must.Get(Parse("a.yaml", []byte(sample), nil))(t)
			got := ""
			for _, e := range list.About(&schema.Op{Namespace: "aten", Func: schema.Function{Name: tt.op}}) {
				if e.Excuses(tt.code, tt.at) {
					got = e.Op
				}
			}
			if got != tt.want {
				t.Errorf("excused by %q, want %q", got, tt.want)
			}
		})
	}
}

func TestExpired(t *testing.T) {
	list := must.Get(Parse("a.yaml", []byte(sample), nil))(t)
	if got := list.Expired(day("2027-06-30")); len(got) != 0 {
		t.Errorf("expired on the last day: %v", got[0].Op)
	}
	last := day("2027-06-30").Add(24*time.Hour - time.Nanosecond)
	if got := list.Expired(last); len(got) != 0 {
		t.Errorf("expired at the end of the last day: %v", got[0].Op)
	}
	if got := list.Expired(last.Add(time.Nanosecond)); len(got) != 1 {
		t.Errorf("%d entries expired when the day after begins, want 1", len(got))
	}
	if got := list.Expired(time.Time{}); len(got) != 0 {
		t.Errorf("expired on no day: %v", got[0].Op)
	}
	if got := list.Expired(day("2027-07-01")); len(got) != 1 || got[0].Op != "mul_.Tensor" {
		t.Errorf("the day after, expired = %v, want mul_.Tensor", got)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name string
		src  string
		want []string
	}{
		{"not a sequence", "op: add\n", []string{"a.yaml:1:1: expected a list of entries, - {op: ..., checks: [...], reason: ...}, found a mapping"}},
		{"no reason", "- op: add\n  checks: all\n", []string{"a.yaml:1:3: reason is missing"}},
		{"empty reason", "- op: add\n  checks: all\n  reason: ''\n", []string{"a.yaml:3:11: expected text that is not empty, found \"\""}},
		{"unknown key", "- op: add\n  check: all\n  checks: all\n  reason: r\n", []string{`a.yaml:2:3: unknown key "check"; did you mean checks?`}},
		{"key twice", "- op: add\n  op: mul\n  checks: all\n  reason: r\n", []string{"a.yaml:2:3: the key op is given twice, first in line 1"}},
		{"unknown check", "- op: add\n  checks: [OA001, OA099]\n  reason: r\n", []string{`a.yaml:2:19: unknown check "OA099"`}},
		{"unknown symptom", "- op: add\n  checks: [OA009/state, OA009/stat]\n  reason: r\n", []string{`a.yaml:2:25: unknown symptom "OA009/stat"; OA009 has restored, state`}},
		{"symptom of another check", "- op: add\n  checks: [OA001/state]\n  reason: r\n", []string{`a.yaml:2:12: unknown symptom "OA001/state"; OA001 has no symptoms`}},
		{"no such op", "- op: sub\n  checks: all\n  reason: r\n", []string{`a.yaml:1:3: no op in the schema is called "sub"`}},
		{"nearest op", "- op: Add_\n  checks: all\n  reason: r\n", []string{`did you mean add?`}},
		{"bad version", "- op: add\n  checks: all\n  reason: r\n  versions: 2.6\n", []string{"a.yaml:4:13: version bound \"2.6\" does not begin"}},
		{"bad day", "- op: add\n  checks: all\n  reason: r\n  expires: soon\n", []string{`a.yaml:4:12: "soon" is not a day`}},
		{"bad device", "- op: add\n  checks: all\n  reason: r\n  device: openreg:x\n", []string{`a.yaml:4:11: unknown device "openreg:x": a device is a type, such as cuda, with or without an index, such as openreg:1`}},
		{"device by another case", "- op: add\n  checks: all\n  reason: r\n  device: Cuda:1\n", []string{`a.yaml:4:11: unknown device "Cuda:1"; did you mean cuda?`}},
		{"empty device", "- op: add\n  checks: all\n  reason: r\n  device: ''\n", []string{`a.yaml:4:11: unknown device ""`}},
		{"second document", "- op: add\n  checks: all\n  reason: r\n---\n- op: add\n", []string{"a second YAML document"}},
		{"not yaml", "- op: [\n", []string{"a.yaml:", "not YAML"}},
		{"columns count bytes", "- {op: é, check: all, checks: all, reason: r}\n", []string{`a.yaml:1:12: unknown key "check"; did you mean checks?`}},
		{"a line after a carriage return", "- op: add\r  checks: all\r  reason: ''\r", []string{"a.yaml:3:11: expected text"}},
		{"syntax, by line", "- op: add\n  checks: all\n  reason: r\n- [a\n", []string{"a.yaml:4:1: not YAML: did not find expected ',' or ']': put a value with brackets, commas or colons in quotes"}},
		{"too large", strings.Repeat("#", yamlfile.MaxSize+1), []string{"a.yaml:1:1: the file is larger than 16 MiB"}},
		{"alias", "- op: &a add\n  checks: all\n  reason: *a\n", []string{"a.yaml:3:11: expected text that is not empty, found the YAML alias *a"}},
		{"no checks", "- op: add\n  checks: []\n  reason: r\n", []string{"a.yaml:2:11: expected checks: a list of codes such as [OA003, OA005], or all, found an empty list"}},
		{"scalar entry", "- add\n", []string{`a.yaml:1:3: expected an entry with keys, found "add"`}},
		{"null is not text", "- op: ~\n  checks: all\n  reason: ~\n", []string{"a.yaml:1:7: expected text that is not empty, found nothing", "a.yaml:3:11: expected text that is not empty, found nothing"}},
		{"checks of text", "- op: add\n  checks: OA001\n  reason: r\n", []string{`a.yaml:2:11: expected checks: a list of codes such as [OA003, OA005], or all, found "OA001"`}},
		{"checks in a mapping", "- op: add\n  checks: {OA001: x}\n  reason: r\n", []string{"a.yaml:2:11: expected checks: a list of codes such as [OA003, OA005], or all, found a mapping"}},
		{"checks by an alias", "- op: &all all\n  checks: *all\n  reason: r\n", []string{"a.yaml:2:11: expected checks: a list of codes such as [OA003, OA005], or all, found the YAML alias *all"}},
		{"a bad number", "- op: add\n  checks: all\n  reason: r\n  versions: '>=1.x'\n", []string{`a.yaml:4:13: version "1.x" is not of the form`}},
		{"a large number", "- op: add\n  checks: all\n  reason: r\n  versions: '>=99999999999999999999'\n", []string{`a.yaml:4:13: version "99999999999999999999": `}},
		{"all at once", "- op: sub\n- checks: [no]\n", []string{
			"a.yaml:1:3: checks is missing", "a.yaml:1:3: reason is missing", "a.yaml:1:3: no op in the schema",
			`a.yaml:2:12: unknown check "no"`, "a.yaml:2:3: op is missing",
		}},
	}
	add := must.Get(schema.ParseOp("add.Tensor(Tensor self, Tensor other) -> Tensor"))(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("a.yaml", []byte(tt.src), []*schema.Op{add})
			if err == nil {
				t.Fatal("no error")
			}
			text := allErrors(err)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("error is\n%s\nwant %q in it", text, want)
				}
			}
		})
	}
}

// A symptom is excused alone, a check with all of its symptoms.
func TestSymptoms(t *testing.T) {
	list := must.Get(Parse("a.yaml", []byte("- op: add\n  checks: [OA009/state, undeclared-write/restored, OA021]\n  reason: r\n"), nil))(t)
	e := list.Entries[0]
	if e.Checks != asserts.CodesOf(asserts.NondeterministicResult) || e.Excuses(asserts.UndeclaredWrite, Where{}) {
		t.Errorf("checks %v", e.Checks)
	}
	want := []asserts.Excuse{{Code: asserts.UndeclaredWrite, Symptom: "state"}, {Code: asserts.UndeclaredWrite, Symptom: "restored"}}
	if !slices.Equal(e.Symptoms, want) {
		t.Errorf("symptoms %v", e.Symptoms)
	}
}

// Reports and comments have one line for a reason.
func TestReasonIsOneLine(t *testing.T) {
	for _, reason := range []string{"|\n    a\n    b\n", "\"a\\nb\"\n", "\"a\\r\\tb\"\n", "a\n    b\n"} {
		list := must.Get(Parse("a.yaml", []byte("- op: add\n  checks: all\n  reason: "+reason), nil))(t)
		if got := list.Entries[0].Reason; got != "a b" {
			t.Errorf("reason %q is %q, want a b", reason, got)
		}
	}
}

// Entries must name ops of the schema; each is checked once.
func TestNames(t *testing.T) {
	add := must.Get(schema.ParseOp("add.Tensor(Tensor self, Tensor other) -> Tensor"))(t)
	for _, tt := range []struct{ op, want string }{
		{"add", ""},
		{"add.Tensor", ""},
		{"aten::add.Tensor", ""},
		{"''", `a.yaml:1:7: expected text that is not empty, found ""`},
		{"sub", `a.yaml:1:3: no op in the schema is called "sub"`},
		{"ADD_", `a.yaml:1:3: no op in the schema is called "ADD_"; did you mean add?`},
	} {
		got := ""
		if _, err := Parse("a.yaml", []byte("- op: "+tt.op+"\n  checks: all\n  reason: r\n"), []*schema.Op{add}); err != nil {
			got = strings.TrimSpace(allErrors(err))
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.op, got, tt.want)
		}
	}
}

// A preset names devices: those that packages bring copy by _copy_from, PyTorch's own do not.
func TestPresetNamesDevices(t *testing.T) {
	list := must.Get(Preset("opassert"))(t)
	for device, want := range map[string]bool{"openreg:1": true, "privateuseone:0": true, "cuda:0": false, "cpu": false, "": false} {
		excused := slices.ContainsFunc(list.Entries, func(e *Entry) bool {
			return e.Op == "_copy_from" && e.Excuses(asserts.UndeclaredWrite, Where{Device: device})
		})
		if excused != want {
			t.Errorf("%q: a write of _copy_from is excused: %v", device, excused)
		}
	}
}

// Open accepts a preset's name, and a file.
func TestOpen(t *testing.T) {
	if list, err := Open("pytorch-1.13", nil); err != nil || list.Path != "preset pytorch-1.13" {
		t.Errorf("a preset: %v, %v", list, err)
	}
	path := filepath.Join(t.TempDir(), "a.yaml")
	must.Do(t, os.WriteFile(path, []byte(sample), 0o666))
	if list, err := Open(path, nil); err != nil || len(list.Entries) != 4 {
		t.Errorf("a file: %v, %v", list, err)
	}
	if _, err := Open("nothing.yaml", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// An entry may be about crashes, with or without checks.
func TestCrashes(t *testing.T) {
	src := "- op: add\n  crash: [SIGFPE, hang]\n  reason: r\n  device: cuda\n- op: mul\n  crash: abort\n  reason: r\n  checks: [OA001]\n"
	list := must.Get(Parse("a.yaml", []byte(src), nil))(t)
	add, mul := list.Entries[0], list.Entries[1]
	if add.ExcusesCrash("SIGFPE", Where{}) || add.ExcusesCrash("abort", Where{Device: "cuda"}) {
		t.Error("excused on another device, or from another cause")
	}
	if !add.ExcusesCrash("hang", Where{Device: "cuda"}) || !mul.ExcusesCrash("abort", Where{}) {
		t.Error("not excused")
	}
	if _, err := Parse("a.yaml", []byte("- op: add\n  crash: [hang, '']\n  reason: r\n"), nil); err == nil || !strings.HasPrefix(err.Error(), "a.yaml:2:17: expected text") {
		t.Errorf("a cause without text: %v", err)
	}
}

// One entry in braces, as in a report, is a list of one.
func TestOneEntry(t *testing.T) {
	list, err := Parse("a.yaml", []byte("{op: add, checks: [OA001], reason: r}"), nil)
	if err != nil || len(list.Entries) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := Parse("a.yaml", []byte("op: add\nchecks: all\nreason: r\n"), nil); err == nil {
		t.Error("a mapping in lines is not a list")
	}
}

// A list without entries finds nothing.
func TestAboutNothing(t *testing.T) {
	if about := (&List{}).About(nil); about != nil {
		t.Error(about)
	}
}

func TestEmptyFile(t *testing.T) {
	for _, src := range []string{"", "# nothing\n", "[]\n", "---\n", "~\n"} {
		list, err := Parse("a.yaml", []byte(src), nil)
		if err != nil || len(list.Entries) != 0 {
			t.Errorf("Parse(%q) = %v, %v; want no entries", src, list, err)
		}
	}
}

func TestRange(t *testing.T) {
	tests := []struct {
		text, version string
		want          bool
	}{
		{">=1.13, <2.6", "1.13.1", true},
		{">=1.13, <2.6", "1.9", false},
		{">=1.13, <2.6", "2.6.0a0+git", false},
		{"==2.0", "2.0.0", true},
		{">2.0", "2.0", false},
		{"<=2.0", "2.0.0", true},
		{"<=1.13", "1.13.1", false},
		{"<=1.13", "1.13", true},
		{"<=1.13", "1", true},
		{">=1.13.1", "1.13", false},
		{"<2.0.1", "2.0", true},
		{"==1.13", "1.13.1", false},
		{">1.13", "1.13.1", true},
		{">=2.0, <3", "3.0", false},
		{">=1.13", "", false},
		{">=1.13", "new", false},
		{"<2.6", "new", false},
		{"==2.6.0", "2.6.0a0+git.99", true},
		{"<=2.6", "2.6:5", true},
	}
	for _, tt := range tests {
		r := must.Get(parseRange(tt.text))(t)
		if got := r.contains(tt.version); got != tt.want {
			t.Errorf("%q holds %s: %v, want %v", tt.text, tt.version, got, tt.want)
		}
	}
}

// Every shipped list can be read, and has each exception once.
func TestPresets(t *testing.T) {
	want := map[string]int{"pytorch-1.13": 18, "pytorch-2.6": 21}
	got := map[string]int{}
	for _, name := range PresetNames() {
		list := must.Get(Preset(name))(t)
		seen := map[string]bool{}
		for _, e := range list.Entries {
			if seen[e.Op] {
				t.Errorf("%v: %s stands twice", e.Pos, e.Op)
			}
			seen[e.Op] = true
		}
		got[name] = len(list.Entries)
	}
	if got["opassert"] == 0 {
		t.Error("opassert's own list is empty")
	}
	if got["run"] == 0 {
		t.Error("the list for watched programs is empty")
	}
	delete(got, "opassert") // may grow
	delete(got, "run")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Preset("nope"); err == nil {
		t.Error("an unknown preset is not an error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("- &a {op: x, checks: *a}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := Parse("a.yaml", src, nil)
		if (list == nil) == (err == nil) {
			t.Errorf("list %v and error %v: want one of them", list, err)
		}
		if list == nil {
			return
		}
		for _, e := range list.Entries {
			if e.Op == "" || e.Reason == "" || e.Checks == 0 {
				t.Errorf("%v: accepted an incomplete entry %+v", e.Pos, e)
			}
		}
	})
}

func allErrors(err error) string {
	var b strings.Builder
	scanner.PrintError(&b, err)
	return b.String()
}

// An entry may make violations notes.
func TestNotes(t *testing.T) {
	list, err := Parse("a.yaml", []byte("- op: add\n  checks: [OA007]\n  level: note\n  reason: r\n- op: mul\n  checks: [OA007]\n  reason: r\n"), nil)
	if err != nil || !list.Entries[0].Note || list.Entries[1].Note {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = Parse("a.yaml", []byte("- op: add\n  checks: [OA007]\n  level: warning\n  reason: r\n"), nil)
	if want := "a.yaml:3:10: expected level: note, for findings that are debatable"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
