package suite

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/locked"
)

// A ResultStore stores the results of a run on disk, a line for each op, so that an interrupted run can continue.
type ResultStore struct {
	Path   string
	Known  map[string]*report.OpResult // of earlier runs, by op
	Other  bool                        // the file held the state of another run, which was deleted
	header string
	file   *os.File
	err    error
}

type stateLine struct {
	Result *report.OpResult `json:"result"`
}

// stateMark begins the first line of a state file; its version and the run's key follow.
const (
	stateMark    = "opassert check state "
	stateVersion = "3 "
)

var (
	// ErrNotState is the error for a file that holds something else, which is not changed.
	ErrNotState = errors.New("not a state file of opassert check; it is not changed")

	// ErrStateInUse is the error for a file that another run has open.
	ErrStateInUse = errors.New("another run of the same command is using it")
)

// OpenState opens the state of the run that the key identifies, and locks it. Known are the results
// that an interrupted run with that key wrote.
func OpenState(path, key string) (*ResultStore, error) {
	s := &ResultStore{Path: path, header: stateMark + stateVersion + key, Known: make(map[string]*report.OpResult)}
	if err := s.open(); err != nil {
		s.file.Close() // or nil
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	return s, nil
}

func (s *ResultStore) open() error {
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
		if !isState(s.Path) { // before opening it for writing
			return ErrNotState
		}
	}
	if s.file, err = locked.Open(s.Path, flags); errors.Is(err, locked.ErrHeld) {
		return ErrStateInUse
	} else if err != nil {
		return err
	}
	mode := s.file.Chmod(0o600) // an old one may have another
	if isNew {
		return errors.Join(mode, s.begin())
	}
	return errors.Join(mode, s.read())
}

func isState(path string) bool {
	f, _ := os.Open(path) // nil has no content
	defer f.Close()
	start := make([]byte, len(stateMark))
	n, _ := f.Read(start)
	return string(start[:n]) == stateMark
}

// read reads the complete lines of an earlier run, and positions the file for more.
func (s *ResultStore) read() error {
	lines := bufio.NewReaderSize(s.file, 1<<16)
	first, err := lines.ReadString('\n')
	if err != nil || strings.TrimSuffix(first, "\n") != s.header {
		s.Other = true
		return s.begin()
	}
	end := int64(len(first))
	for {
		line, err := lines.ReadBytes('\n')
		var r stateLine
		if err != nil || json.Unmarshal(line, &r) != nil || r.Result == nil {
			break
		}
		end += int64(len(line))
		s.Known[r.Result.Op] = r.Result
	}
	_, err = s.file.Seek(end, 0)
	return errors.Join(s.file.Truncate(end), err)
}

func (s *ResultStore) begin() error {
	emptied := s.file.Truncate(0)
	_, wrote := s.file.WriteAt([]byte(s.header+"\n"), 0)
	_, sought := s.file.Seek(0, io.SeekEnd)
	return errors.Join(emptied, wrote, sought)
}

// Keep writes a result, unless it is known already or opassert failed on its op. Err returns the first error.
func (s *ResultStore) Keep(r *report.OpResult) {
	if s.Known[r.Op] != nil || r.Fault != "" {
		return
	}
	text, err := json.Marshal(stateLine{r})
	if text = append(text, '\n'); err == nil { //mutate:equivalent true: a result can be encoded
		_, err = s.file.Write(text)
	}
	if err != nil {
		s.err = cmp.Or(s.err, fmt.Errorf("state %s: %w", s.Path, err))
	}
}

// Err returns the first error of writing.
func (s *ResultStore) Err() error { return s.err }

// Close keeps the state for a later run.
func (s *ResultStore) Close() error { return errors.Join(s.err, s.file.Close()) }

// Finish removes the state of a finished run.
func (s *ResultStore) Finish() error { return errors.Join(s.err, os.Remove(s.Path), s.file.Close()) }
