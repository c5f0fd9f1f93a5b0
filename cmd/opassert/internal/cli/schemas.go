package cli

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/schema"
)

// schemaFlags are the flags of every command that reads a schema file.
type schemaFlags struct {
	schema, tags, base, version *string
	dirs                        *repeated // of -libtorch
	strict                      *bool
}

func newSchemaFlags(f *flag.FlagSet) schemaFlags {
	s := newEngineSchemaFlags(f)
	f.StringVar(s.tags, "tags", "", "")
	f.StringVar(s.base, "pytorch-schema", "", "")
	f.StringVar(s.version, "version", "", "")
	return s
}

// newEngineSchemaFlags are those of a command whose engine has a version.
func newEngineSchemaFlags(f *flag.FlagSet) schemaFlags {
	dirs := new(repeated)
	f.Var(dirs, "libtorch", "")
	return schemaFlags{
		dirs:   dirs,
		schema: f.String("schema", "", ""),
		strict: f.Bool("strict", false, ""),
		tags:   new(string), base: new(string), version: new(string),
	}
}

// load returns the file's ops, sorted by name.
func (s schemaFlags) load(inv *invocation) ([]*schema.Op, error) {
	if err := s.find(inv); err != nil {
		return nil, err
	}
	file, err := s.config(inv).Load(*s.schema)
	if err != nil {
		return nil, err
	}
	inv.printSource(file)
	slices.SortFunc(file.Ops, func(a, b *schema.Op) int { return strings.Compare(a.Name(), b.Name()) })
	return file.Ops, nil
}

// find sets the schema file, unless one is given, to that of the PyTorch found.
func (s schemaFlags) find(inv *invocation) error {
	if *s.schema != "" {
		return nil
	}
	path, err := inv.findSchemas(s.dirs.one())
	if err != nil {
		return usagef("%v; want -schema FILE", err)
	}
	*s.schema = path
	return nil
}

// findSchemas returns the native_functions.yaml of the PyTorch in a folder, or for ""
// of the one found, and prints which it is.
func (inv *invocation) findSchemas(dir string) (string, error) {
	path, torch, err := installed.FindSchemas(dir)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(inv.stderr, "opassert: schemas of %v (%s): %s\n", torch, torch.Found, path)
	return path, nil
}

func (s schemaFlags) config(inv *invocation) schema.Config {
	c := schema.Config{Tags: *s.tags, Version: *s.version, Strict: *s.strict}
	c.Base = func() (*schema.File, error) {
		path := *s.base
		if path == "" {
			found, err := inv.findSchemas(s.dirs.one())
			if err != nil {
				return nil, fmt.Errorf("%w; want -pytorch-schema FILE", err)
			}
			path = found
		}
		file, err := schema.Config{Version: *s.version}.Load(path)
		if err != nil {
			return nil, fmt.Errorf("-pytorch-schema: %w", err)
		}
		inv.printSource(file)
		return file, nil
	}
	return c
}

// printSource prints the warnings about a schema file, and the version whose rules it
// was read by, if that matters. A worker leaves that to its run.
func (inv *invocation) printSource(file *schema.File) {
	if isWorker() {
		return
	}
	for _, w := range file.Warnings {
		printable.Printf(inv.stderr, "%v: warning: %s\n", w.Pos, w.Msg)
	}
	if file.Reading.Matters {
		printable.Printf(inv.stderr, "%s: read by %v\n", file.Path, file.Reading)
	}
}
