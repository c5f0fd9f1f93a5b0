package golden

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// A recorder is a test that records its last error.
type recorder struct {
	testing.TB
	format string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, _ ...any) { r.format = f }

// Another text than that of the file is an error, and so is a missing file.
func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	compare := func(got string) bool {
		r := recorder{TB: t}
		Compare(&r, "folder/file.txt", got)
		return strings.HasPrefix(r.format, "%s, -want +got")
	}
	if !compare("text") {
		t.Error("no error for a missing file")
	}
	writing := func(mode *bool, got string) bool {
		defer func(was bool) { *mode = was }(*mode)
		*mode = true
		return compare(got)
	}
	if writing(add, "first") || compare("first") {
		t.Error("a missing file is not written")
	}
	if !writing(add, "text") || !compare("text") {
		t.Error("an existing file is written as a missing one")
	}
	if writing(Update, "text") {
		t.Error("an error for a file that is written")
	}
	git := func(args ...string) { must.Get(exec.Command("git", args...).CombinedOutput())(t) }
	git("init")
	if writing(add, "again") || compare("again") {
		t.Error("a file that git does not track is not written again")
	}
	git("add", "testdata")
	if !writing(add, "text") {
		t.Error("a file that git tracks is written as a missing one")
	}
	must.Do(t, os.WriteFile("testdata/folder/file.txt", []byte("text"), 0o666))
	if text := must.Get(os.ReadFile("testdata/folder/file.txt"))(t); string(text) != "text" || compare("text") {
		t.Errorf("the file is %q, and does not count as the same", text)
	}
	if !compare("other") {
		t.Error("no error for another text")
	}
}
