package watch

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/internal/dev/must"
)

// connected is a process of a run, without a connection.
func connected(t *testing.T) (*reported, *process) {
	t.Helper()
	r := counting(t, false)
	r.ops.byText, r.ops.plan, r.config.Policy, r.origins = make(map[string]*watchedOp), fromPlanner(t).plan, asserts.Aware(), newOrigins()
	r.processes, r.names = make(map[int]string), make(map[string]bool)
	return r, &process{run: r.run, pid: 7, pending: make(map[int64][]*asserts.Violation)}
}

// send returns the answer to a frame, or the error.
func (p *process) send(kind byte, data string) string {
	answer, err := p.answer(preload.Message{Kind: kind, Data: []byte(data)})
	if err != nil {
		return "error: " + err.Error()
	}
	return string(answer)
}

// A process that greets is counted, and gets the settings, and where the sources of PyTorch lie.
func TestGreetings(t *testing.T) {
	of := func(s settings, folders ...string) string {
		own := append([]string{" " + strings.Join(torch.Own, " ") + " "}, torch.OwnSources...)
		return string(words(s.words()...)) + strings.Join(append(own, folders...), "\n")
	}
	for _, tt := range []struct {
		name, text string
		config     Config
		packages   []string
		want       string
	}{
		{"no limits", "12\n1\n3\n2.6.0\n/lib/python3\n3", Config{}, nil, of(settings{sample: 1, maxBytes: math.MaxInt64})},
		{"all settings", "12\n1\n3\n2.6.0\n/lib/python3\n3", Config{Content: AllContent, Sample: 9, MaxBytes: 1, Record: 4, Fakes: CustomContent}, []string{"/a/torch", "/b/torch"}, of(settings{2, 9, 1, 4, 1}, "/a/torch/")},
		{"cut short", "12\n1\n3\n2.6.0", Config{}, nil, "error: process 7: the watcher's greeting is cut short"},
		{"without a number", "x\n1\n3\n2.6.0\n/lib/python3\n3", Config{}, nil, `error: process 0: strconv.Atoi: parsing "x": invalid syntax`},
	} {
		r, p := connected(t)
		r.config, r.packages = tt.config, tt.packages
		if diff := cmp.Diff(tt.want, p.send(frameHello, tt.text)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if strings.HasPrefix(tt.want, "error") {
			equal(t, tt.name, slices.Collect(maps.Values(r.processes)))
		} else if p.pid != 12 || p.version != "2.6.0" || r.processes[12] != "3" || r.early != 2 || p.layout.stdlib != "/lib/python3" {
			t.Errorf("%s: %+v of %v, %d threads", tt.name, p, r.processes, r.early)
		}
	}
	r, p := connected(t)
	if got := p.send(frameHello, "12\n1\n\n2.6.0\n\n"); strings.HasPrefix(got, "error") || r.early != 0 {
		t.Errorf("a fork has %d threads: %q", r.early, got)
	}
}

// observedTensor is a tensor in the words of observe.h, with its uses, and a digest of its contents.
func observedTensor(id, uses, digest int64) []int64 {
	strided := []int64{7, int64(binary.NativeEndian.Uint64([]byte("Strided\x00")))}
	return slices.Concat([]int64{id, 10 * id, uses | 1<<32, 1 << 48, 6, 0, -1, 0, 8, digest, 1, 2, 0, 0, 0, 0}, strided, []int64{0, 0, 0, 0})
}

// callOf is the record of a call of f_(Tensor(a!) x) -> Tensor(a!) that wrote x without another
// version, and holds it afterwards; the texts are those of asked.
func callOf(circumstances int64, modes, brought, device string) string {
	return callLeaving(circumstances, modes, brought, device, 4)
}

// callLeaving is the same with a number of uses of x afterwards: 3 are 2 from before, and the return.
func callLeaving(circumstances int64, modes, brought, device string, uses int64) string {
	texts := modes + "\x00" + brought + "\x00" + device + "\x00n=3\x1f\x00"
	head := words(0, int64(asserts.Content), circumstances, int64(len(texts)))
	tensors := slices.Concat([]int64{1}, observedTensor(1, 2, 98), observedTensor(1, uses, 99), []int64{0, 1}, observedTensor(1, uses, 99), []int64{0})
	return string(head) + texts + strings.Repeat("\x00", -len(texts)&7) + string(words(tensors...))
}

// A call that broke rules is answered by a number; in some circumstances the kernel is not at fault.
func TestUnusualCalls(t *testing.T) {
	const others = "OA016 other threads may use the tensors"
	const wrote = "OA010 another thread wrote during the call"
	for _, tt := range []struct {
		name          string
		circumstances int64
		modes         string
		broken, skips string
	}{
		{"no circumstances", 0, "", "OA010", others},
		{"alone", circumstanceAlone, "", "OA010, OA016", ""},
		{"concurrent", circumstanceConcurrent, "", "", wrote + "; " + others},
		{"concurrent and alone", circumstanceConcurrent | circumstanceAlone, "", "", wrote + "; OA016 another thread wrote during the call"},
		{"below autograd", circumstanceBelow, "", "", "OA010 called below autograd, as by a compiled graph, where nothing raises versions; " + others},
		{"threw", circumstanceThrew, "", "", ""},
		{"moved", circumstanceMoved, "", "OA010, OA009", others},
		{"moved, and threw", circumstanceMoved | circumstanceThrew, "", "OA009 and then it threw", ""},
		{"in modes", 0, "m.Keeps\x1f\nm.Writes\x1fOA010\n", "", "OA010 mode m.Writes; " + others},
	} {
		r, p := connected(t)
		p.send(frameOp, opRecord("", "my::f_", "", writes, itself))
		answer := p.send(frameCall, callOf(tt.circumstances, tt.modes, "", "cpu"))
		var broken, skips []string
		for _, v := range p.pending[1] {
			threw := ""
			if strings.HasSuffix(v.Saw, ", and then it threw") {
				threw = " and then it threw"
			}
			broken = append(broken, v.Code.String()+threw)
			if !strings.HasPrefix(v.Call, "f_(x=") || !strings.HasSuffix(v.Call, ", n=3)") {
				t.Errorf("%s: the call is %s", tt.name, v.Call)
			}
		}
		for s := range r.skips {
			if !strings.HasPrefix(s.reason, asserts.NotThere) && !strings.Contains(s.reason, "observed") {
				skips = append(skips, fmt.Sprintf("%v %s", s.code, s.reason))
			}
		}
		slices.Sort(skips)
		if got := strings.Join(broken, ", "); got != tt.broken || (answer == "1") != (got != "") || (answer == "") != (got == "") || len(p.pending) > 1 {
			t.Errorf("%s: %q breaks %q, want %q", tt.name, answer, got, tt.broken)
		}
		equal(t, tt.name, skips, tt.skips)
	}
}

// Python's collector is run after the first calls of an op that leave references, and then ever more seldom. Where it has
// freed some, the calls between are skips, and otherwise findings.
func TestCollections(t *testing.T) {
	const collect = "collect"
	const collects, collected = circumstanceAlone | circumstanceCollects, circumstanceAlone | circumstanceCollected
	for _, tt := range []struct {
		name, skip string
		kept       int64 // references after the collector has run
		broken     int   // codes of a call after which it is not run
	}{
		{"references", "", 4, 2},
		{"garbage", "Python's collector freed such references after earlier calls, and was not run", 3, 1},
	} {
		r, p := connected(t)
		p.send(frameOp, opRecord("", "my::f_", "", writes, itself))
		call := func(circumstances, uses int64) string {
			p.pending = make(map[int64][]*asserts.Violation)
			return p.send(frameCall, callLeaving(circumstances, "", "", "cpu", uses))
		}
		if call(collects, 3) == collect || call(circumstanceCollects, 4) == collect {
			t.Errorf("%s: the collector is run where no reference is a finding", tt.name)
		}
		var runs []int
		for i := 1; i <= 33; i++ {
			if call(collects, 4) != collect {
				continue
			}
			if runs = append(runs, i); call(collected, tt.kept) == collect {
				t.Errorf("%s: the collector is run twice", tt.name)
			}
		}
		if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7, 8, 16, 32}, runs); diff != "" {
			t.Errorf("%s: the collector is run after calls (-want +got): %s", tt.name, diff)
		}
		for _, broken := range p.pending {
			if len(broken) != tt.broken {
				t.Errorf("%s: the last call breaks %d rules, want %d", tt.name, len(broken), tt.broken)
			}
		}
		if n := r.skips[opSkip{"my::f_", asserts.KeptArgument, tt.skip}]; (n == 23) != (tt.skip != "") {
			t.Errorf("%s: %d calls are skips", tt.name, n)
		}
	}
}

// A record of a call that is cut short, or of an unknown op, is an error.
func TestCallsThatCannotBeRead(t *testing.T) {
	_, p := connected(t)
	p.send(frameOp, opRecord("", "my::f_", "", writes, itself))
	whole := callOf(0, "", "", "cpu")
	const unknown = "error: process 7: the watcher's record of a call has an unknown op"
	for data, want := range map[string]string{
		whole[:askedSize-1]:                  "error: process 7: the watcher's record of a call is cut short",
		whole[:len(whole)-8]:                 "error: process 7: my::f_: the record of a call is cut short",
		string(words(1, 2, 0, 0)):            unknown,
		string(words(0, 2, 0, -1)):           unknown,
		string(words(0, 2, 0, 16, 0)):        unknown,
		string(words(0, 2, 0, 1000)) + "cpu": unknown,
		string(words(0, 2, 0, 8, 0)):         "error: process 7: the watcher's record of a call has other texts",
		string(words(0, 2, 0, 4, 0)):         "error: process 7: my::f_: the record of a call is cut short",
	} {
		if got := p.send(frameCall, data); want != "" && got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
	if len(p.pending) > 0 {
		t.Errorf("calls that cannot be read broke rules: %v", p.pending)
	}
}

// broke adds a call that broke rules of ops.
func (p *process) broke(number int64, ops ...string) {
	for _, op := range ops {
		p.pending[number] = append(p.pending[number], &asserts.Violation{Op: op, Code: asserts.UndeclaredWrite})
	}
}

// The place of a call that broke rules is answered by what to raise, if findings are raised: those
// that a baseline does not have, and that are no notes.
func TestSitesOfCalls(t *testing.T) {
	const place = "m.C\x1fm.B.f\x1fm.py\x1f3\nP  File \"a.py\", line 3 in f\n"
	for _, fail := range []bool{false, true} {
		r, p := connected(t)
		r.config.Fail, r.findings.known = fail, func(f *OpFinding) bool { return f.Op == "known" }
		p.broke(1, "known", "note", "new", "newer")
		p.pending[1][1].Note = "why"
		text := p.send(frameSite, "1\n"+place)
		var told []string
		for report := range strings.SplitSeq(text, "\n\n") {
			first, _, _ := strings.Cut(report, "  argument")
			told = append(told, first)
		}
		want := []string{""}
		if fail {
			want = []string{"OA009 undeclared-write  new", "OA009 undeclared-write  newer"}
		}
		equal(t, fmt.Sprintf("raised: %v", fail), told, want...)
		all := r.findings.sorted()
		for _, f := range all {
			if f.where() != "a.py:3 in f" || f.Answer == nil || f.Answer.Class != "m.C" {
				t.Errorf("%s: at %s, answered by %v", f.Op, f.where(), f.Answer)
			}
		}
		if len(all) != 4 || len(p.pending) > 0 {
			t.Errorf("%d findings, and %d calls wait for their sites", len(all), len(p.pending))
		}
	}
}

// A site that is cut short, or of an unknown call, is an error.
func TestSitesThatCannotBeRead(t *testing.T) {
	r, p := connected(t)
	p.broke(0, "a::f")
	p.broke(1, "a::f")
	const short, unknown = "error: process 7: the watcher's site is cut short", "error: process 7: the watcher's site has an unknown call"
	for data, want := range map[string]string{"1\nm": short, "1\nm\n": short, "x\nm\nP": unknown, "2\nm\nP": unknown} {
		if got := p.send(frameSite, data); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
	if len(p.pending) != 2 || len(r.findings.sorted()) > 0 {
		t.Errorf("%d calls wait for their sites, findings %v", len(p.pending), r.findings.sorted())
	}
}

// The origin of generated code is requested once; with findings that are raised there is no time for it.
func TestSitesInGeneratedCode(t *testing.T) {
	generated := filepath.Join(t.TempDir(), "generated.py")
	must.Do(t, os.WriteFile(generated, []byte("# AOT ID: ['0_inference']\n"), 0o600))
	place := "\n\nP  File \"" + generated + "\", line 7 in call\n  File \"/train.py\", line 3 in step\n"
	for _, fail := range []bool{false, true} {
		r, p := connected(t)
		r.config.Fail = fail
		p.broke(1, "a::f")
		p.broke(2, "a::g")
		first, second := p.send(frameSite, "1"+place), p.send(frameSite, "2"+place)
		line := "?" + generated + ":7"
		if found := len(r.findings.sorted()); fail && (found != 2 || first == line || second == "") || !fail && (found != 0 || first != line || second != "") {
			t.Errorf("raised: %v: %d findings, answers %q and %q", fail, found, first, second)
		}
		p.send(frameOrigin, strings.TrimPrefix(line, "?")+"\n/model.py\n5\nforward\n")
		for _, f := range r.findings.sorted() {
			if want := map[bool]string{false: "/model.py:5 in forward", true: "/train.py:3 in step"}[fail]; f.where() != want {
				t.Errorf("raised: %v: at %s, want %s", fail, f.where(), want)
			}
		}
		if found := len(r.findings.sorted()); found != 2 {
			t.Errorf("raised: %v: %d findings with an origin, want 2", fail, found)
		}
	}
}
