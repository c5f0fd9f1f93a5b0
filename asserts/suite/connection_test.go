package suite

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// Whatever a worker's replies contain, an accepted line has the key before it and an end, and the
// others are foreign.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{"K end 3 done\n", "end 3 done\nK list x\n", "K a\nK", "Kx\n\nK \n", strings.Repeat("x", 5000) + "\nK begin 1\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := bufio.NewReaderSize(strings.NewReader(text), 16)
		for {
			line, err := readLine(in, "K")
			switch {
			case err == io.EOF:
				return
			case err != nil:
				t.Fatalf("%q: %v", text, err)
			case !strings.HasPrefix(line, lineForeign+" ") && !strings.Contains(text, "K "+line+"\n"):
				t.Fatalf("%q is read as %q", text, line)
			}
		}
	})
}

// Text that does not encode a value is an error; a decoded value can be encoded again.
func FuzzDecode(f *testing.F) {
	for _, l := range []Listing{{}, {Version: "embedded", Wrote: []string{"x"}}} {
		text := must.Get(encode(l))(f)
		f.Add(text)
		if _, err := decode[Listing](text + "!"); err == nil {
			f.Errorf("%s! is decoded", text)
		}
	}
	f.Add("not base64")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := decode[Listing](text)
		if err != nil {
			return
		}
		again := must.Get(encode(*l))(t)
		if m, err := decode[Listing](again); err != nil || m.Version != l.Version || len(m.Operators) != len(l.Operators) {
			t.Fatalf("%+v is encoded as %+v, %v", l, m, err)
		}
	})
}

// A line longer than the reader's buffer is read completely, a truncated one is dropped, and one
// without an end is foreign.
func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 100)
	for text, want := range map[string]string{
		"K " + long + "\n": long, "K sta" + "K done\n": "done", long + "\n": lineForeign + " ", "K " + strings.Repeat("x", longestLine+100) + "\n": lineForeign + " ",
	} {
		got, err := readLine(bufio.NewReaderSize(strings.NewReader(text), 16), "K")
		if err != nil || got != want && !(want == lineForeign+" " && strings.HasPrefix(got, want)) {
			t.Errorf("%.20q of %d bytes is read as %.20q of %d, %v", text, len(text), got, len(got), err)
		}
	}
}
