package suite

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/locked"
)

// A State stores the results of a run on disk, a line for each op, so that an
// interrupted run can continue, and the next run skips ops that are unchanged.
type State struct {
	Path   string
	Known  map[string]*report.OpResult // from the runs before, by op
	Other  bool                        // the file held the state of another run, which is gone
	header string
	inputs func(op string) string
	lines  map[string][]byte // to be written again, by op
	file   *os.File
	err    error
}

// A kept result is a line of a state.
type kept struct {
	Inputs string           `json:"inputs,omitempty"`
	Result *report.OpResult `json:"result"`
}

// stateMark begins the first line of a state file; its version and the run's key follow.
const (
	stateMark    = "opassert check state "
	stateVersion = "3 "
)

var (
	// ErrNotState is for a file that holds something else, which is left alone.
	ErrNotState = errors.New("it is not a state file of opassert check, and is left as it is")

	// ErrStateInUse is for a file that another run has open.
	ErrStateInUse = errors.New("another run of the same command is using it")
)

// OpenState opens the state of the run that the key identifies, and locks it.
// Known are the results that an earlier run with that key wrote: where inputs is not
// nil, those of ops for which it returns the same text as then, and not "".
func OpenState(path, key string, inputs func(op string) string) (*State, error) {
	s := &State{Path: path, header: stateMark + stateVersion + key, Known: make(map[string]*report.OpResult), inputs: inputs, lines: make(map[string][]byte)}
	if err := s.open(); err != nil {
		s.file.Close() // or nil
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	return s, nil
}

func (s *State) open() error {
	info, err := os.Stat(s.Path)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew:
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return ErrNotState
	}
	flags := os.O_CREATE | os.O_EXCL
	if !isNew {
		flags = 0
		if !isState(s.Path) { // before it is opened for writing
			return ErrNotState
		}
	}
	if s.file, err = locked.Open(s.Path, flags); errors.Is(err, locked.ErrHeld) {
		return ErrStateInUse
	} else if err != nil {
		return err
	}
	mode := s.file.Chmod(0o600) // which an old one may not have
	if isNew {
		return errors.Join(mode, s.begin())
	}
	return errors.Join(mode, s.read())
}

// isState reports whether a file's first line is that of a state.
func isState(path string) bool {
	f, _ := os.Open(path) // or nil, which holds nothing
	defer f.Close()
	start := make([]byte, len(stateMark))
	n, _ := f.Read(start)
	return string(start[:n]) == stateMark
}

// read reads an earlier run's lines, as far as they are whole, and leaves
// the file ready for more.
func (s *State) read() error {
	lines := bufio.NewReaderSize(s.file, 1<<16)
	first, err := lines.ReadString('\n')
	if err != nil || strings.TrimSuffix(first, "\n") != s.header {
		s.Other = true
		return s.begin()
	}
	end := int64(len(first))
	for {
		line, err := lines.ReadBytes('\n')
		var r kept
		if err != nil || json.Unmarshal(line, &r) != nil || r.Result == nil {
			break
		}
		if end += int64(len(line)); s.inputs == nil || r.Inputs != "" && r.Inputs == s.inputs(r.Result.Op) {
			s.remember(r, line)
			s.Known[r.Result.Op] = r.Result
		}
	}
	_, err = s.file.Seek(end, 0)
	return errors.Join(s.file.Truncate(end), err)
}

// begin writes the file anew, with the lines that are kept.
func (s *State) begin() error {
	emptied := s.file.Truncate(0)
	text := []byte(s.header + "\n")
	for _, op := range slices.Sorted(maps.Keys(s.lines)) {
		text = append(text, s.lines[op]...)
	}
	_, wrote := s.file.WriteAt(text, 0)
	_, sought := s.file.Seek(0, io.SeekEnd)
	return errors.Join(emptied, wrote, sought)
}

// Keep writes a result down, unless it is known already or opassert failed on
// its op. An error is kept for Err.
func (s *State) Keep(r *report.OpResult) {
	if s.Known[r.Op] != nil || r.Fault != "" {
		return
	}
	line := kept{Result: r}
	if s.inputs != nil {
		line.Inputs = s.inputs(r.Op)
	}
	text, err := json.Marshal(line)
	if text = append(text, '\n'); err == nil { //mutate:equivalent true: a result is encoded without an error
		_, err = s.file.Write(text)
	}
	s.remember(line, text)
	if err != nil {
		s.err = cmp.Or(s.err, fmt.Errorf("state %s: %w", s.Path, err))
	}
}

// remember notes a line that a later run can take over.
func (s *State) remember(r kept, line []byte) {
	if r.Inputs != "" && r.Result.Settled() {
		s.lines[r.Result.Op] = line
	}
}

// Err is the first error of writing.
func (s *State) Err() error { return s.err }

// Close leaves the state for a later run.
func (s *State) Close() error { return errors.Join(s.err, s.file.Close()) }

// Finish ends the state of a run that is through. Results that a later run can take
// over stay.
func (s *State) Finish() error {
	if s.inputs == nil {
		return errors.Join(s.err, os.Remove(s.Path), s.file.Close())
	}
	return errors.Join(s.begin(), s.Close())
}
