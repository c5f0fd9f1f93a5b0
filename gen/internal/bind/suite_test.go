package bind

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// The overlay of the user's GOFLAGS, the last one, is kept, with one file more; one that can't be read is an error.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"Replace": {"a.go": "b.go"}}`), 0o666))
	must.Do(t, os.WriteFile(filepath.Join(dir, "c.json"), []byte(`{"Replace": {"c.go": "d.go"}}`), 0o666))
	must.Do(t, os.WriteFile(filepath.Join(dir, "broken.json"), []byte(`{`), 0o666))
	for flags, want := range map[string]string{
		"":                `{"Replace":{"x.go":"y.go"}}`,
		"-overlay=a.json": `{"Replace":{"a.go":"b.go","x.go":"y.go"}}`,
		"-overlay=" + filepath.Join(dir, "a.json") + " -overlay=c.json": `{"Replace":{"c.go":"d.go","x.go":"y.go"}}`,
		"-overlay=absent.json": "",
		"-overlay=broken.json": "",
	} {
		t.Setenv("GOFLAGS", flags)
		got, err := Overlay(dir, "x.go", "y.go")
		if diff := cmp.Diff(want, string(got)); diff != "" || (err == nil) != (want != "") {
			t.Errorf("with %q: %v (-want +got)\n%s", flags, err, diff)
		}
	}
}
