package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/diff"
)

// Stale returns the files whose text on disk is not the generated one. A hand-written file on disk is an error.
func Stale(files []File) ([]File, error) {
	var stale []File
	for _, f := range files {
		old, err := readGenerated(f.Path)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(old, f.Text) {
			stale = append(stale, f)
		}
	}
	return stale, nil
}

// Write writes files, each completely or not at all.
func Write(files []File) error {
	for _, f := range files {
		if err := write(f); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

// write renames a finished file into place, so that no reader sees a partial one.
func write(f File) error {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o777); err != nil { //mutate:equivalent false: the file can't be made either
		return err
	}
	tmp, err := os.CreateTemp(dir, ".opassert-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as intended
	_, err = tmp.Write(f.Text)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err != nil { //mutate:equivalent false: no test fills a disk
		return err
	}
	return os.Rename(tmp.Name(), f.Path)
}

// Diff returns the changes that Write would make as a unified diff.
func Diff(files []File) ([]byte, error) {
	var out bytes.Buffer
	for _, f := range files {
		old, err := readGenerated(f.Path)
		if err != nil {
			return nil, err
		}
		out.Write(diff.Diff(f.Path, old, f.Path+" (generated)", f.Text))
	}
	return out.Bytes(), nil
}

// generated is the line by which Go's tools recognize a generated file.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// readGenerated returns the text of a generated file, nil if the file does not exist.
func readGenerated(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(text) > 0 && !generated.Match(text):
		return nil, fmt.Errorf("%s is not a generated file: move it away, or choose another folder with -out", path)
	}
	return text, nil
}
