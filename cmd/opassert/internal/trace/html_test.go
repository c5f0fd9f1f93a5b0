package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/internal/dev/must"
)

func pageOf(t *testing.T, log string) []byte {
	t.Helper()
	var b bytes.Buffer
	h := NewHTML(filepath.Base(log))
	report := must.Get(Read(log, "", h.Life))(t)
	must.Do(t, h.Write(&b, report))
	return b.Bytes()
}

func TestPage(t *testing.T) {
	for log, want := range map[string][]string{
		"testdata/hermetic.md": {
			"<h2><span class=\"code\">OA103</span> hermetic, line 3606</h2>", "<strong>hermetic state</strong>",
			"line 5019 uses the deallocated object, for tensor 0x7f4a10e3b310; a dict is found there",
			`class="break"`, `class="later"`, `class="preserved"`, `class="freed"`, "OA102 3612", ">5019</text>",
		},
		"testdata/healthy.log": {"Nothing broke"},
		"testdata/moved.log":   {"2 unknown", "checking the moon"},
	} {
		page := pageOf(t, log)
		for _, w := range want {
			if !bytes.Contains(page, []byte(w)) {
				t.Errorf("%s: no %q on the page", log, w)
			}
		}
		// One file, without text that the template's escaper rejected.
		for _, no := range []string{"http:", "https:", "<script", "<link", "<img", "ZgotmplZ"} {
			if bytes.Contains(page, []byte(no)) {
				t.Errorf("%s: %q on the page", log, no)
			}
		}
	}
}

// drawing returns the data of a page, one row, bar, dot or step a line, with
// positions in percent.
func drawing(p pageData) string {
	var b strings.Builder
	draw := func(all []row, v InvariantViolation) {
		for _, l := range all {
			fmt.Fprintf(&b, "  %s %s: %s %d at %.0f, %d at %.0f\n", l.Kind, l.Address, v.Code, v.Line, l.Breaks, v.Consequence, l.Later)
			for _, bar := range l.Bars {
				fmt.Fprintf(&b, "    %.0f to %.0f %s: %s\n", bar.X, bar.X+bar.Width, bar.Class, bar.Says)
			}
			for _, d := range l.Dots {
				fmt.Fprintf(&b, "    %.0f %s: %d %s\n", d.X, d.Class, d.Line, d.Event)
			}
		}
	}
	fmt.Fprintln(&b, p.Report.Summary())
	for _, d := range p.Breaks {
		fmt.Fprintf(&b, "%s line %d, %d below\n", d.Code, d.InvariantViolation.Line, len(d.Below))
		draw(d.Rows, d.Drawn)
		for _, s := range d.Steps {
			fmt.Fprintf(&b, "  %d %s %s %s: %s\n", s.Line, s.Kind, s.Address, s.Class, s.Event)
		}
	}
	fmt.Fprintf(&b, "%d more\n", p.MoreBreaks)
	return b.String()
}

// Text of the log is not markup.
func TestPageEscapes(t *testing.T) {
	log := filepath.Join(t.TempDir(), "<b>.log")
	text := "[a.cpp:1] (0x10) <script>alert(1)</script>\n[a.cpp:1] (0x10), created storage PyObject of type <i> at 0x20\n"
	must.Do(t, os.WriteFile(log, []byte(text), 0o666))
	page := pageOf(t, log)
	for _, no := range []string{"<script", "<i>", "<b>"} {
		if bytes.Contains(page, []byte(no)) {
			t.Errorf("%q on the page", no)
		}
	}
}

// A long log makes a page of bounded size.
func TestPageOfMany(t *testing.T) {
	p := newTorch(2, 0)
	for range 200 {
		x := p.tensor()
		o := p.untypedStorage(x, false)
		p.hermetic = true
		p.del(o)
		p.hermetic = false
	}
	var b bytes.Buffer
	h := NewHTML("many")
	r := NewReader("", h.Life)
	r.Write([]byte(strings.Join(p.lines, "\n")))
	must.Do(t, h.Write(&b, r.Close()))
	if !strings.Contains(b.String(), fmt.Sprintf("%d more findings are not drawn", len(p.broken)-maxBreaks)) || b.Len() > 2<<20 {
		t.Errorf("%d bytes for %d violations", b.Len(), len(p.broken))
	}
}

// measure has a browser's measurements of the page, in CSS pixels.
type measure struct {
	Window, Page float64 // widths
	Rows         int
	Break, Later []float64 // the positions of the lines
	Bars         []float64 // widths of the bars
	Height       float64   // height of a row
	Text         float64   // size of the smallest text
}

const ruler = `<script>
const at = c => [...document.querySelectorAll('.row ' + c)].map(e => e.getBoundingClientRect().x);
const m = {
  Window: innerWidth, Page: document.documentElement.scrollWidth,
  Rows: document.querySelectorAll('.row').length, Break: at('line.break'), Later: at('line.later'),
  Bars: [...document.querySelectorAll('.row rect')].map(e => e.getBoundingClientRect().width),
  Height: document.querySelector('.row svg').getBoundingClientRect().height,
  Text: Math.min(...[...document.querySelectorAll('p, dd, td, text')].map(e => parseFloat(getComputedStyle(e).fontSize))),
};
document.title = JSON.stringify(m);
</script>`

// The page is measured in a window as wide as a phone's.
func TestPageOnAPhone(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the page is not measured")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	must.Do(t, os.WriteFile(file, append(pageOf(t, "testdata/hermetic.md"), ruler...), 0o666))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Headless windows are at least 500 wide; a frame is as narrow as a phone.
	frame := filepath.Join(t.TempDir(), "frame.html")
	must.Do(t, os.WriteFile(frame, fmt.Appendf(nil, `<iframe src="file://%s" width="390" height="800"
 onload="document.title = this.contentDocument.title"></iframe>`, file), 0o666))
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=5000", "--dump-dom", "file://"+frame).Output()
	if err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	title := regexp.MustCompile(`(?s)<title>(.*?)</title>`).FindSubmatch(out)
	if title == nil {
		t.Fatalf("no measure in\n%s", out)
	}
	var m measure
	if err := json.Unmarshal([]byte(html.UnescapeString(string(title[1]))), &m); err != nil {
		t.Fatalf("%v in %s", err, title[1])
	}
	t.Logf("%+v", m)
	if m.Window > 400 || m.Page > m.Window {
		t.Errorf("the page is %g wide in a window of %g", m.Page, m.Window)
	}
	if m.Rows < 4 || m.Height < 20 || m.Text < 9 {
		t.Errorf("%d rows of height %g, text of %g", m.Rows, m.Height, m.Text)
	}
	if len(m.Break) != m.Rows || len(m.Later) != m.Rows {
		t.Fatalf("the break is drawn in %d of %d rows, the use in %d", len(m.Break), m.Rows, len(m.Later))
	}
	for i := range m.Break {
		if m.Break[i] <= 0 || m.Later[i] <= m.Break[i] || m.Later[i] >= m.Window || m.Break[i] != m.Break[0] {
			t.Errorf("row %d: the break at %g, the use at %g", i, m.Break[i], m.Later[i])
		}
	}
	for i, w := range m.Bars {
		if w < 2 {
			t.Errorf("bar %d is %g wide", i, w)
		}
	}
}
