// Package settings reads opassert.yaml, which sets flags of the commands that the command line does not set.
package settings

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/owner"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
)

// FileName is the file's name.
const FileName = "opassert.yaml"

// Find returns the path of the file that applies to a folder, or "": the nearest one,
// up to the root of the Go module, the workspace or the repository.
func Find(dir string) (string, error) {
	top := Root(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if path := filepath.Join(at, FileName); exists(path) {
			return path, trust(path, top)
		}
		if path := filepath.Join(at, "opassert.yml"); exists(path) {
			return "", fmt.Errorf("%s is not read: call it %s", path, FileName)
		}
		if at == top {
			return "", nil
		}
	}
}

// roots are the files and folders that the root of a module, workspace or repository has.
var roots = []string{"go.mod", "go.work", ".git"}

// Root returns the nearest root of a module, workspace or repository, or the folder itself.
func Root(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if slices.ContainsFunc(roots, func(name string) bool { return exists(filepath.Join(at, name)) }) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// allowed is the variable with the roots whose files apply although they are another user's.
const allowed = "OPASSERT_SAFE_DIRECTORY"

// trust returns an error if the file, or what makes it apply below the root, is another user's.
func trust(path, top string) error {
	if slices.Contains(filepath.SplitList(os.Getenv(allowed)), top) {
		return nil
	}
	files := slicesx.Map(roots, func(name string) string { return filepath.Join(top, name) })
	for _, name := range slices.Insert(files, 0, path) {
		for _, of := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
			if info, err := of(name); err == nil && !owner.Trusted(info) {
				return fmt.Errorf("%s belongs to another user, and %s sets what runs: read it, and set %s=%s to use it",
					name, path, allowed, top)
			}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A File has the settings of a file, and its errors in Errs.
type File struct {
	*yamlfile.File
	Settings []Setting // in the order of their positions, those of all commands first
}

// A Setting is the value of a flag.
type Setting struct {
	Command string // "" for all that have the flag
	Flag    string
	node    *yaml.Node
}

// A FlagValue is a value of a flag, with its position.
type FlagValue struct {
	Text string
	Pos  token.Position
}

// Read reads a file; name is its name in errors. A key is a flag of some command, or
// a command with a mapping of its flags.
func Read(path, name string, flags map[string][]string) (*File, error) {
	text, err := yamlfile.Read(path)
	if err != nil {
		return nil, err
	}
	f := &File{File: yamlfile.New(name, text)}
	if doc := f.Document(""); doc != nil {
		f.read(doc, flags)
	}
	return f, nil
}

func (f *File) read(doc *yaml.Node, flags map[string][]string) {
	commands := slices.Sorted(maps.Keys(flags))
	all := slices.Concat(slices.Collect(maps.Values(flags))...)
	slices.Sort(all)
	keys := slices.Compact(slices.Sorted(slices.Values(slices.Concat(commands, all))))
	values, unknown, ok := f.Fields(doc, "a mapping", keys)
	if !ok {
		return
	}
	for _, key := range unknown {
		f.Report(key, "unknown key %q%s", yamlfile.Clip(key.Value), suggest(key.Value, keys))
	}
	for i, key := range keys {
		_, command := flags[key]
		switch value := values[i]; {
		case value == nil:
		case command && yamlfile.IsNull(value) && slices.Contains(all, key):
			f.ReportKind(value, "a mapping with flags of opassert "+key+", or a value of the flag "+key)
		case command && (value.Kind == yaml.MappingNode || yamlfile.IsNull(value)):
			f.section(value, key, flags)
		case !slices.Contains(all, key):
			f.ReportKind(value, "a mapping with flags of opassert "+key)
		default:
			f.Settings = append(f.Settings, Setting{Flag: key, node: value})
		}
	}
	slices.SortStableFunc(f.Settings, func(a, b Setting) int { return cmp.Compare(a.Command, b.Command) })
}

func (f *File) section(n *yaml.Node, command string, flags map[string][]string) {
	values, unknown, _ := f.Fields(n, "a mapping", flags[command])
	for _, key := range unknown {
		f.Report(key, "opassert %s has no flag %s%s", command, yamlfile.Clip(key.Value),
			cmp.Or(yamlfile.Suggest(key.Value, flags[command]), others(key.Value, flags)))
	}
	for i, value := range values {
		if value != nil {
			f.Settings = append(f.Settings, Setting{command, flags[command][i], value})
		}
	}
}

// suggest ends a message about an unknown key.
func suggest(word string, keys []string) string {
	if near := yamlfile.Suggest(word, keys); near != "" {
		return near
	}
	for _, key := range slices.Backward(keys) {
		if len(key) > 2 && strings.HasPrefix(word, key) {
			return "; did you mean " + key + "?"
		}
	}
	return "; a key is a command of opassert or one of its flags: opassert help config"
}

func others(name string, flags map[string][]string) string {
	lacks := func(command string) bool { return !slices.Contains(flags[command], name) }
	have := slices.DeleteFunc(slices.Sorted(maps.Keys(flags)), lacks)
	if len(have) == 0 {
		return ""
	}
	return "; " + strings.Join(have, " and ") + " do"
}

// At returns the position of the setting's value.
func (f *File) At(s Setting) token.Position { return f.Pos(s.node) }

// Bool reads true or false.
func (f *File) Bool(s Setting) []FlagValue {
	value, ok := yamlfile.Bool(s.node)
	if !ok {
		f.ReportKind(s.node, s.Flag+" to be true or false")
		return nil
	}
	return []FlagValue{{fmt.Sprint(value), f.At(s)}}
}

// Text reads one value; kind is the expected kind in words.
func (f *File) Text(s Setting, kind string) []FlagValue { return f.text(s.node, s.Flag+" to be "+kind) }

// List reads several values, or one.
func (f *File) List(s Setting, kind string) (values []FlagValue) {
	if s.node.Kind != yaml.SequenceNode || len(s.node.Content) == 0 {
		return f.text(s.node, s.Flag+" to be "+kind+", or a list of such")
	}
	for _, n := range s.node.Content {
		values = append(values, f.text(n, kind)...)
	}
	return values
}

func (f *File) text(n *yaml.Node, expected string) []FlagValue {
	if _, isBool := yamlfile.Bool(n); isBool || n.Kind != yaml.ScalarNode || yamlfile.IsNull(n) || n.Value == "" {
		f.ReportKind(n, expected)
		return nil
	}
	return []FlagValue{{n.Value, f.Pos(n)}}
}
