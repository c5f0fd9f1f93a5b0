package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/must"
)

// chromium returns a headless browser, or skips the test.
func chromium(t *testing.T) func(args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here: the page is not looked at in a browser")
	}
	profile := t.TempDir()
	return func(args ...string) []byte {
		t.Helper()
		all := append([]string{
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--user-data-dir=" + profile,
		}, args...)
		out, err := exec.Command(path, all...).Output()
		if err != nil {
			t.Fatalf("chromium: %v", err)
		}
		return out
	}
}

// writePage writes the page of a run over the fake engine.
func writePage(t *testing.T) string {
	t.Helper()
	shown := report.Report{Engine: "fake <1>", Level: asserts.Meta, Cases: 30, Command: "opassert check"}
	for _, r := range runFake(t, "good", "writes", "view_copies", "meta_disagrees", "crashes_on_bool", "never") {
		shown.Ops = append(shown.Ops, r)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	var page bytes.Buffer
	must.Do(t, shown.WriteHTML(&page))
	must.Do(t, os.WriteFile(path, page.Bytes(), 0o666))
	return "file://" + path
}

// shown returns the ops of the findings that are visible on the page.
func shown(dom string) []string {
	var ops []string
	for _, part := range strings.Split(dom, `<details class="finding"`)[1:] {
		tag, _, _ := strings.Cut(part, ">")
		if !strings.Contains(tag, "hidden") {
			_, rest, _ := strings.Cut(tag, `data-op="aten::`)
			op, _, _ := strings.Cut(rest, `"`)
			ops = append(ops, op)
		}
	}
	return ops
}

func TestPageFilters(t *testing.T) {
	browse := chromium(t)
	page := writePage(t)
	tests := []struct {
		filter  string
		want    string // the findings' ops
		rows    string
		crashes string
	}{
		{"", "meta_disagrees view_copies writes", "(6 of 6 ops)", "(1 of 1)"},
		{"#check=OA009", "writes", "", ""},
		{"#op=view", "view_copies", "(1 of 6 ops)", "(0 of 1)"},
		{"#device=meta", "meta_disagrees", "", ""},
		{"#check=OA001", "", "(5 of 6 ops)", ""},
	}
	for _, tt := range tests {
		dom := string(browse("--dump-dom", page+tt.filter))
		got := map[string]bool{}
		for _, op := range shown(dom) {
			got[op] = true
		}
		for _, op := range strings.Fields(tt.want) {
			if !got[op] {
				t.Errorf("%q hides %s", tt.filter, op)
			}
			delete(got, op)
		}
		if len(got) > 0 {
			t.Errorf("%q shows %v too", tt.filter, got)
		}
		if !strings.Contains(dom, tt.rows) || !strings.Contains(dom, tt.crashes) {
			t.Errorf("%q: want %q and %q in the page", tt.filter, tt.rows, tt.crashes)
		}
	}
}

// A click on a column's name sorts by it, and another one reverses the order; the reason why an op
// never ran is visible.
func TestPageSorts(t *testing.T) {
	browse := chromium(t)
	page := strings.TrimPrefix(writePage(t), "file://")
	text := must.Get(os.ReadFile(page))(t)
	first := func(clicks string) string {
		t.Helper()
		clicked := strings.Replace(string(text), "fromAddress();\n</script>", "fromAddress();\n"+clicks+"\n</script>", 1)
		must.Do(t, os.WriteFile(page, []byte(clicked), 0o666))
		dom := string(browse("--dump-dom", "file://"+page))
		_, rows, _ := strings.Cut(dom, `id="rows"`)
		_, op, _ := strings.Cut(rows, `title="aten::`)
		op, _, _ = strings.Cut(op, `"`)
		if !strings.Contains(rows, `<td class="why">not today</td>`) {
			t.Error("the page does not say why an op never ran")
		}
		return op
	}
	click := func(n int) string {
		return fmt.Sprintf("document.querySelectorAll('#heads th button')[%d].click();", n)
	}
	for _, tt := range []struct{ clicks, want string }{
		{"", "crashes_on_bool"},
		{click(0), "writes"},
		{click(1) + click(1), "never"},
		{click(10), "writes"}, // OA009
	} {
		if got := first(tt.clicks); got != tt.want {
			t.Errorf("after %q the first op is %s, want %s", tt.clicks, got, tt.want)
		}
	}
}

// The button above a program selects it completely, whatever it contains, and reports whether it
// was copied: a browser lets a page copy after a click, not from a script.
func TestPageSelectsPrograms(t *testing.T) {
	browse := chromium(t)
	program := "import torch\nassert 1 < 2 and \"</pre>\" != '&amp;'\n"
	writes, copies := runFake(t, "writes")["writes"], runFake(t, "view_copies")["view_copies"]
	writes.Findings[0].Program = &report.ReproProgram{File: "out/first.py", Text: "another"}
	copies.Findings[0].Program = &report.ReproProgram{File: "out/second.py", Text: program}
	run := report.Report{Engine: "fake", Level: asserts.Meta, Cases: 30, Command: "opassert check", Ops: []*report.OpResult{writes, copies}}
	var page bytes.Buffer
	must.Do(t, run.WriteHTML(&page))
	clicks := `document.querySelectorAll(".finding").forEach(d => d.open = true);
const button = [...document.querySelectorAll(".copy")].find(b => b.parentElement.textContent.includes("second"));
button.click();
document.title = JSON.stringify([String(getSelection()), button.textContent]);`
	path := filepath.Join(t.TempDir(), "page.html")
	clicked := strings.Replace(page.String(), "fromAddress();\n</script>", "fromAddress();\n"+clicks+"\n</script>", 1)
	must.Do(t, os.WriteFile(path, []byte(clicked), 0o666))
	_, title, _ := strings.Cut(string(browse("--dump-dom", "file://"+path)), "<title>")
	title, _, _ = strings.Cut(title, "</title>")
	var got []string
	must.Do(t, json.Unmarshal([]byte(html.UnescapeString(title)), &got))
	if want := []string{strings.TrimSuffix(program, "\n"), "Selected, not copied"}; !slices.Equal(got, want) {
		t.Errorf("after a click %q, want %q", got, want)
	}
}

// The page is self-contained, and its contents cannot break out of it.
func TestPageStandsAlone(t *testing.T) {
	shown := report.Report{Engine: "<script>", Ops: []*report.OpResult{{Op: "aten::</script><b>", Cases: 1, Error: "</script>"}}}
	var page bytes.Buffer
	must.Do(t, shown.WriteHTML(&page))
	text := page.String()
	for _, bad := range []string{"http://", "https://", "src=", "<link", "</script><b>", "<title>opassert: <script>"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(text, "</script>"); n != 1 {
		t.Errorf("%d scripts end in the page", n)
	}
}
