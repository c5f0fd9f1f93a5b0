package suite

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStateGoesOnWhereItStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "state")
	open := func(command string) *State {
		t.Helper()
		s, err := OpenState(path, command, "engine 1")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open("check -op a")
	s.Keep(&OpResult{Op: "aten::a", Ran: 7})
	s.Keep(&OpResult{Op: "aten::b"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// A line that was cut short does not count.
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, text[:len(text)-3], 0o666); err != nil {
		t.Fatal(err)
	}
	s = open("check -op a")
	if len(s.Known) != 1 || s.Known["aten::a"].Ran != 7 {
		t.Errorf("known: %v", s.Known)
	}
	s.Keep(s.Known["aten::a"])
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// Another command knows nothing of it, and a run that is through leaves none.
	if s = open("check -op b"); len(s.Known) != 0 {
		t.Errorf("another run knows %v", s.Known)
	}
	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the state is still there: %v", err)
	}
}
