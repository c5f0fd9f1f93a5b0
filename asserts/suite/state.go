package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/locked"
)

// A State keeps the results of a run on disk, a line an op, so that an
// interrupted run can go on.
type State struct {
	Path  string
	Known map[string]*report.OpResult // from the run before, by op
	Other bool                        // the file held the state of another run, which is gone
	file  *os.File
	err   error
}

// stateMark begins the first line of a state file; the run's key follows.
const stateMark = "opassert check state 2 "

var (
	// ErrNotState is for a file that holds something else, which is left alone.
	ErrNotState = errors.New("it is not a state file of opassert check, and is left as it is")

	// ErrStateInUse is for a file that another run has open.
	ErrStateInUse = errors.New("another run of the same command is using it")
)

// OpenState opens the state of the run that the key stands for, and locks it.
// What an earlier run of that key wrote is Known.
func OpenState(path, key string) (*State, error) {
	s := &State{Path: path, Known: make(map[string]*report.OpResult)}
	if err := s.open(stateMark + key); err != nil {
		if s.file != nil {
			s.file.Close()
		}
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	return s, nil
}

func (s *State) open(header string) error {
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
	if err := s.file.Chmod(0o600); err != nil { // which an old one may not have
		return err
	}
	if isNew {
		return s.begin(header)
	}
	return s.read(header)
}

// isState reports whether a file's first line is that of a state.
func isState(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(stateMark))
	n, _ := f.Read(start)
	return string(start[:n]) == stateMark
}

// read reads an earlier run's lines, as far as they are whole, and leaves
// the file ready for more.
func (s *State) read(header string) error {
	lines := bufio.NewReaderSize(s.file, 1<<16)
	first, err := lines.ReadString('\n')
	if err != nil || strings.TrimSuffix(first, "\n") != header {
		s.Other = true
		return s.begin(header)
	}
	end := int64(len(first))
	for {
		line, err := lines.ReadBytes('\n')
		r := new(report.OpResult)
		if err != nil || json.Unmarshal(line, r) != nil {
			break
		}
		s.Known[r.Op] = r
		end += int64(len(line))
	}
	if err := s.file.Truncate(end); err != nil {
		return err
	}
	_, err = s.file.Seek(end, 0)
	return err
}

// begin writes the file anew.
func (s *State) begin(header string) error {
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.file, header)
	return err
}

// Keep writes a result down, unless it is known already or opassert failed on
// its op. An error is kept for Err.
func (s *State) Keep(r *report.OpResult) {
	if s.Known[r.Op] != nil || r.Fault != "" {
		return
	}
	text, err := json.Marshal(r)
	if err == nil {
		_, err = s.file.Write(append(text, '\n'))
	}
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("state %s: %w", s.Path, err)
	}
}

// Err is the first error of writing.
func (s *State) Err() error { return s.err }

// Close leaves the state for a later run.
func (s *State) Close() error { return errors.Join(s.err, s.file.Close()) }

// Remove ends the state of a run that is through.
func (s *State) Remove() error { return errors.Join(s.err, os.Remove(s.Path), s.file.Close()) }
