package watch

import (
	"bytes"
	"html"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/must"
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
	r := &Report{
		Program: "python train.py", Level: asserts.Identity, Custom: asserts.Meta,
		Called:   []*report.OpResult{{Op: "mylib::scale", Cases: 7, Ran: 6}},
		Findings: []*Finding{{Violation: v, Count: 2, Pids: []int{1}, Site: []Frame{{File: "train.py", Line: 42, Function: "step"}}}},
	}
	var text bytes.Buffer
	must.Do(t, r.Suite().WriteHTML(&text))
	_, body, _ := strings.Cut(html.UnescapeString(text.String()), "</style>")
	page, _, _ := strings.Cut(body, "<script>")
	for _, want := range []string{
		"opassert on python train.py<", "PyTorch's own ops at the level identity, others at meta.", "<b>6</b> of 7 calls judged", "site    train.py:42 in step", ">judged</button></tr>",
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
