package schema

import (
	"go/scanner"
	"os"
	"path/filepath"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
)

// A Config describes how to read a schema file. The zero Config reads a file that depends on no other.
type Config struct {
	// Tags is the tags.yaml file that declares the tags. If it is "", that is the tags.yaml beside
	// the file; without one, any tag is accepted.
	Tags string
	// Version is the PyTorch whose rules apply if the file does not determine them: "2.6", "2.6.0+cpu".
	Version string
	// Base reads the file with the schemas of the ops that another project's file only names. It is
	// called for the first such name; nil for a file without any.
	Base func() (*File, error)
	// Kernels means that the ops have kernels of their own and torchgen does not read the file: an
	// op without a dispatch table does not decompose.
	Kernels bool
	// Strict makes every warning an error.
	Strict bool
}

// Load reads a native_functions.yaml-style file and the tags.yaml file that declares its tags; see [Config.Load].
func Load(path, tagsPath string) (*File, error) { return Config{Tags: tagsPath}.Load(path) }

// Load reads a schema file.
//
// Errors in the files are returned as one [scanner.ErrorList], sorted; the error of
// a file that can't be read is an [fs.PathError].
func (c Config) Load(path string) (*File, error) {
	src, err := yamlfile.Read(path)
	if err != nil {
		return nil, err
	}
	tags, tagErrs, err := c.loadTags(path)
	if err != nil {
		return nil, err
	}
	return c.parse(path, src, tags, tagErrs)
}

func (c Config) loadTags(path string) (*TagSet, scanner.ErrorList, error) {
	tagsPath := c.Tags
	if tagsPath == "" {
		tagsPath = filepath.Join(filepath.Dir(path), "tags.yaml")
	}
	src, err := yamlfile.Read(tagsPath)
	if c.Tags == "" && os.IsNotExist(err) {
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

// Parse parses a native_functions.yaml-style file, as [Load] does; path is only for positions. With
// nil tags any tag is accepted. Errors are a [scanner.ErrorList], sorted.
func Parse(path string, src []byte, tags *TagSet) (*File, error) {
	return Config{}.parse(path, src, tags, nil)
}

// Parse parses a schema file, as [Config.Load] does, but with the given tags.
func (c Config) Parse(path string, src []byte, tags *TagSet) (*File, error) {
	return c.parse(path, src, tags, nil)
}

// parse returns the file, or its errors and those of its tags.
func (c Config) parse(path string, src []byte, tags *TagSet, errs scanner.ErrorList) (*File, error) {
	r := reader{File: yamlfile.New(path, src), config: c, tags: tags}
	file := r.file()
	if errs = append(errs, r.Errs...); len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	r.warnings.Sort()
	file.Warnings, file.Reading = r.warnings, r.reading
	return file, nil
}

func (r *reader) file() *File {
	entries := r.entries()
	file := &File{Path: r.Path, Ops: slicesx.Map(entries, func(e *entry) *Op { return e.op })}
	r.checkDuplicates(entries)
	own := slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return e.foreign })
	// The rest compares entries: an entry that is missing because of an error would cause further errors.
	if len(r.Errs) == 0 {
		r.checkInplaceViews(own)
		file.Ops = append(file.Ops, r.derive(own)...)
	}
	return file
}
