package suite

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A State keeps the results of a run on disk, a line an op, so that an
// interrupted run can go on.
type State struct {
	Path  string
	Known map[string]*OpResult // from the run before, by op
	file  *os.File
	err   error
}

// OpenState opens the state of a run. A run is known by its command and its
// engine; path "" is a file in the user's cache folder.
func OpenState(path, command, engine string) (*State, error) {
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(command+"\x00"+engine)))[:16]
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		path = filepath.Join(cache, "opassert", "check-"+key+".jsonl")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	s := &State{Path: path, Known: make(map[string]*OpResult)}
	if err := s.read(key); err != nil {
		return nil, err
	}
	return s, s.begin(key)
}

// read takes in an earlier run's lines, as far as they are whole and of this
// same run.
func (s *State) read(key string) error {
	f, err := os.Open(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	if !lines.Scan() || lines.Text() != key {
		return nil
	}
	for lines.Scan() {
		r := new(OpResult)
		if json.Unmarshal(lines.Bytes(), r) != nil {
			return nil
		}
		s.Known[r.Op] = r
	}
	return nil
}

// begin writes the file anew; what is known is written again as the run
// passes it on.
func (s *State) begin(key string) error {
	f, err := os.Create(s.Path)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	s.file = f
	_, err = fmt.Fprintln(f, key)
	return err
}

// Keep writes a result down. An error is kept for Remove.
func (s *State) Keep(r *OpResult) {
	text, err := json.Marshal(r)
	if err == nil {
		_, err = s.file.Write(append(text, '\n'))
	}
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("state: %w", err)
	}
}

// Close leaves the state for a later run.
func (s *State) Close() error { return errors.Join(s.err, s.file.Close()) }

// Remove ends the state of a run that is through.
func (s *State) Remove() error { return errors.Join(s.Close(), os.Remove(s.Path)) }
