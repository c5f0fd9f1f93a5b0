package watch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCallsOfGeneratedCodeAreTheProgramsOwn(t *testing.T) {
	dir := t.TempDir()
	generated, users := filepath.Join(dir, "generated.py"), filepath.Join(dir, "train.py")
	os.WriteFile(generated, []byte("# AOT ID: ['0_inference']\n"), 0o600)
	os.WriteFile(users, []byte("import torch\n"), 0o600)
	text := "  File \"" + generated + "\", line 7 in call\n  File \"/torch/x.py\", line 1 in g\n" +
		"  File \"" + users + "\", line 3 in forward\n  File \"" + users + "\", line 9 in <module>\n"
	l := pythonFolders{torch: "/torch", cwd: dir}
	site, line := l.pythonFrames(text)
	if want := generated + ":7"; line != want {
		t.Errorf("generated line %q, want %q", line, want)
	}
	origin := l.originFrames(users + "\n5\nforward\n/torch/nn.py\n1\n_call\n" + users + "\n1\nhelper\n")
	var got []string
	for _, f := range calledFrom(site, origin) {
		got = append(got, f.String())
	}
	if diff := cmp.Diff([]string{"train.py:9 in <module>", "train.py:5 in forward", "train.py:1 in helper"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(site, calledFrom(site, nil)); diff != "" {
		t.Errorf("without an origin: %s", diff)
	}
	// A call back into the program's own code is reported there.
	if _, line := l.pythonFrames("  File \"" + users + "\", line 3 in hook\n" + text); line != "" {
		t.Errorf("generated line %q, want none", line)
	}
}

func TestOriginsAreAskedForOnce(t *testing.T) {
	o := newOrigins()
	told := 0
	then := func(want int) func([]Frame) {
		return func(origin []Frame) {
			if told++; len(origin) != want {
				t.Errorf("%d frames, want %d", len(origin), want)
			}
		}
	}
	if !o.wait("a:1", then(1)) || o.wait("a:1", then(1)) || !o.wait("b:1", then(0)) {
		t.Error("an origin is not requested when its line is first waited for")
	}
	o.found("a:1", []Frame{{}})
	if o.wait("a:1", then(1)) {
		t.Error("a known origin is requested again")
	}
	o.end()
	if told != 4 {
		t.Errorf("%d were called, want 4", told)
	}
}
