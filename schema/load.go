package schema

import (
	"fmt"
	"go/scanner"
	"io"
	"os"
	"path/filepath"
)

// Load reads a native_functions.yaml-style file and the tags.yaml file that
// declares its tags. If tagsPath is "", that is the tags.yaml beside the file;
// if there is none, any tag is taken.
//
// What is wrong in the files comes as one [scanner.ErrorList], sorted; a file
// that can't be read as an [fs.PathError].
func Load(path, tagsPath string) (*File, error) {
	src, err := read(path)
	if err != nil {
		return nil, err
	}
	tags, tagErrs, err := loadTags(path, tagsPath)
	if err != nil {
		return nil, err
	}
	file, errs := parseFile(path, src, tags)
	errs = append(errs, tagErrs...)
	if len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	return file, nil
}

func loadTags(path, tagsPath string) (*TagSet, scanner.ErrorList, error) {
	optional := tagsPath == ""
	if optional {
		tagsPath = filepath.Join(filepath.Dir(path), "tags.yaml")
	}
	src, err := read(tagsPath)
	if optional && os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	tags, err := ParseTags(tagsPath, src)
	if errs, bad := err.(scanner.ErrorList); bad {
		return nil, errs, nil
	}
	return tags, nil, nil
}

// read reads one byte more than a file may have, so that a larger one shows.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return src, nil
}

// Parse reads the bytes of a native_functions.yaml-style file, as [Load] does;
// path is only for positions. Nil tags take any tag. Errors are a
// [scanner.ErrorList], sorted.
func Parse(path string, src []byte, tags *TagSet) (*File, error) {
	file, errs := parseFile(path, src, tags)
	if len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	return file, nil
}

// parseFile gives the file, or what is wrong with it.
func parseFile(path string, src []byte, tags *TagSet) (*File, scanner.ErrorList) {
	r := reader{source: newSource(path, src), tags: tags}
	entries := r.entries()
	file := &File{Path: path}
	for _, e := range entries {
		if e.op != nil {
			file.Ops = append(file.Ops, e.op)
		}
	}
	r.checkDuplicates(entries)
	// What follows compares entries, so an entry that is missing because of an
	// error would make errors of its own.
	if len(r.errs) == 0 {
		r.checkReferences(entries)
		file.Ops = append(file.Ops, r.derive(entries)...)
	}
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return file, nil
}
