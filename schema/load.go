package schema

import (
	"go/scanner"
	"os"
	"path/filepath"

	"github.com/opassert/opassert/schema/yamlfile"
)

// Load reads a native_functions.yaml-style file and the tags.yaml file that
// declares its tags. If tagsPath is "", that is the tags.yaml beside the file;
// if there is none, any tag is taken.
//
// What is wrong in the files comes as one [scanner.ErrorList], sorted; a file
// that can't be read as an [fs.PathError].
func Load(path, tagsPath string) (*File, error) {
	src, err := yamlfile.Read(path)
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
	src, err := yamlfile.Read(tagsPath)
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
	r := reader{File: yamlfile.New(path, src), tags: tags}
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
	if len(r.Errs) == 0 {
		r.checkReferences(entries)
		file.Ops = append(file.Ops, r.derive(entries)...)
	}
	if len(r.Errs) > 0 {
		return nil, r.Errs
	}
	return file, nil
}
