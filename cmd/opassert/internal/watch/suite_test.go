package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		content, fakes Content
		own, others    asserts.Level
	}{
		{NoContent, NoContent, asserts.Identity, asserts.Identity},
		{CustomContent, NoContent, asserts.Identity, asserts.Content},
		{CustomContent, CustomContent, asserts.Identity, asserts.Meta},
		{AllContent, CustomContent, asserts.Content, asserts.Meta},
		{AllContent, AllContent, asserts.Meta, asserts.Meta},
	} {
		c := Config{Content: tt.content, Fakes: tt.fakes}
		if own, others := c.level(false), c.level(true); own != tt.own || others != tt.others {
			t.Errorf("content %d, fakes %d: %v and %v, want %v and %v", tt.content, tt.fakes, own, others, tt.own, tt.others)
		}
	}
}

// The page of a program says what was held against what, and nothing of seeds, cases and
// crashes, which a program has not.
func TestPageOfProgram(t *testing.T) {
	v := &asserts.Violation{Code: asserts.UndeclaredWrite, Op: "mylib::scale", Subject: asserts.Place{Name: "x"}}
	r := &OpReport{
		Program: "python train.py", Level: asserts.Identity, Custom: asserts.Meta,
		Called:   []*report.OpResult{{Op: "mylib::scale", Cases: 7, Ran: 6}},
		Findings: []*OpFinding{{Violation: v, Count: 2, Pids: []int{1}, Site: []Frame{{File: "train.py", Line: 42, Func: "step"}}}},
	}
	var text bytes.Buffer
	must.Do(t, r.Suite().WriteHTML(&text))
	_, body, _ := strings.Cut(html.UnescapeString(text.String()), "</style>")
	page, _, _ := strings.Cut(body, "<script>")
	for _, want := range []string{
		"opassert on python train.py<", "PyTorch's own ops at the level identity, others at meta.", "<b>6</b> of 7 calls judged", "site    train.py:42 (step)", ">judged</button></tr>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, not := range []string{"seed", "case", "rash", "Device", "Ops:", "never ran", "opassert run"} {
		if strings.Contains(page, not) {
			t.Errorf("the page says %q:\n%s", not, page)
		}
	}
}

// Programs that were written for a report's findings are those of the run's, op by op in their order; a
// finding of an op that was not called, as of its schema alone, is in no such report.
func TestAdoptPrograms(t *testing.T) {
	find := func(op string) *OpFinding { return &OpFinding{Violation: &asserts.Violation{Op: op}} }
	r := &OpReport{
		Called:   []*report.OpResult{{Op: "mylib::a"}, {Op: "mylib::b"}},
		Findings: []*OpFinding{find("mylib::b"), find("mylib::a"), find("mylib::uncalled"), find("mylib::b")},
	}
	s := r.Suite()
	for _, op := range s.Ops {
		for i, f := range op.Findings {
			f.Program = &report.ReproProgram{File: fmt.Sprintf("%s-%d.py", op.Op, i)}
		}
	}
	r.AdoptPrograms(s)
	var got []string
	for _, f := range r.Findings {
		if f.Program == nil {
			f.Program = new(report.ReproProgram)
		}
		got = append(got, f.Program.File)
	}
	if want := []string{"mylib::b-0.py", "mylib::a-0.py", "", "mylib::b-1.py"}; !slices.Equal(got, want) {
		t.Errorf("programs %q, want %q", got, want)
	}
}

// Findings as JSON have their frames, and who answered in place of a kernel.
func TestFindingsAsJSON(t *testing.T) {
	answer := &asserts.Answer{Class: "m.C", Site: asserts.Site{File: "m.py", Line: 3, Func: "m.B.f"}}
	at := asserts.Place{Name: "x", Element: asserts.NoElement}
	r := &OpReport{Findings: []*OpFinding{
		{Violation: &asserts.Violation{Op: "a", Code: asserts.FreshImpl, Subject: at, Call: "a(x=float32[2])"}, Count: 1, Pids: []int{7}},
		{Violation: &asserts.Violation{Op: "b", Code: asserts.FreshImpl, Subject: at, Answer: answer}, Count: 2, Pids: []int{7}, Site: []Frame{{File: "train.py", Line: 42, Func: "step"}}},
	}}
	var text bytes.Buffer
	must.Do(t, r.WriteJSON(&text, "more"))
	var got []any
	must.Do(t, json.Unmarshal(text.Bytes(), &got))
	type object = map[string]any
	want := []any{
		object{
			"code": "OA003", "op": "a", "subject": "argument x", "count": 1., "pids": []any{7.},
			"status": "violated", "symptom": "OA003", "call": "a(x=float32[2])", "report": r.Findings[0].Report(),
			"text": "OA003 a: argument x: \n" + r.Findings[0].Brief()},
		object{
			"code": "OA003", "op": "b", "subject": "argument x", "count": 2., "pids": []any{7.},
			"status": "violated", "symptom": "OA003", "report": r.Findings[1].Report(),
			"text":       "OA003 b: argument x: \n" + r.Findings[1].Brief(),
			"answeredBy": object{"file": "m.py", "line": 3., "function": "m.B.f"}, "class": "m.C",
			"site":   object{"file": "train.py", "line": 42., "function": "step"},
			"frames": []any{object{"file": "train.py", "line": 42., "function": "step"}},
		},
		"more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
