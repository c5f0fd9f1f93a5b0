package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// A report from any JSON is an error, or can be written in every format, and reads back unchanged.
func FuzzReadReport(f *testing.F) {
	violation := &asserts.Violation{Code: asserts.UndeclaredAlias, Op: "a::b", Subject: asserts.Place{Return: true, Name: "result", Element: -1}}
	r := &Report{Engine: "e", Ops: []*OpResult{{Op: "a::b", Cases: 2, Ran: 1, Findings: []*Finding{{Violation: violation, Times: 1, Call: "a::b(x)"}},
		Crashes: []Crash{{Case: 1, Cause: "SIGSEGV", Alone: true, Frames: []string{"f"}}}}}, All: 1}
	var seed bytes.Buffer
	must.Do(f, r.WriteJSON(&seed))
	f.Add(seed.Bytes())
	f.Add([]byte(`[{"status":"run","run":{"ops":[{"op":"","findings":[null]}]}}]`))
	f.Add([]byte(`[{"status":"run","run":{"ops":[{"findings":[{"Violation":{"Code":0}}],"crashes":[{}]}],"shard":{"index":1,"of":1}}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ReadReport(bytes.NewReader(text))
		if err != nil {
			return
		}
		if merged, _ := Merge([]string{"x"}, []*Report{r}); merged != nil {
			for _, form := range []Form{Brief, Verbose} {
				must.Do(t, merged.WriteText(io.Discard, form))
			}
			must.Do(t, merged.WriteHTML(io.Discard))
			must.Do(t, WriteJUnit(io.Discard, merged.Results()))
		}
		var first, second bytes.Buffer
		must.Do(t, r.WriteJSON(&first))
		again, err := ReadReport(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, first.Bytes())
		}
		if err := again.WriteJSON(&second); err != nil || first.String() != second.String() {
			t.Fatalf("written and read again (-first +second), %v\n%s", err, cmp.Diff(first.String(), second.String()))
		}
	})
}

// A file is refused with a position, or is a baseline that reads back unchanged.
func FuzzReadBaseline(f *testing.F) {
	for _, seed := range []string{baselineMark + "\nOA007  a::b  result\ncrash  a::b  SIGSEGV\n# note\n\n", "\ufeff" + baselineMark + "\r\n", baselineMark + "\nOA007 a", "", "x"} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "b.txt")
	f.Fuzz(func(t *testing.T, text string) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		b, err := ReadBaseline(path)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		var out bytes.Buffer
		must.Do(t, b.Write(&out))
		must.Do(t, os.WriteFile(path, out.Bytes(), 0o600))
		again, err := ReadBaseline(path)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, out.String(), err)
		}
		if diff := cmp.Diff(b.Lines, again.Lines); diff != "" {
			t.Fatalf("%q (-read +again):\n%s", text, diff)
		}
	})
}
