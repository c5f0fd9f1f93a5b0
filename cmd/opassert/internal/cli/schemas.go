package cli

import (
	"flag"
	"slices"
	"strings"

	"github.com/opassert/opassert/schema"
)

// schemaFlags are the flags of every command that reads a schema file.
type schemaFlags struct {
	schema, tags *string
}

func newSchemaFlags(f *flag.FlagSet) schemaFlags {
	return schemaFlags{
		schema: f.String("schema", "", "the schema `file`, in the form of native_functions.yaml"),
		tags:   f.String("tags", "", "the tags `file` (default: tags.yaml beside the schema, if there is one)"),
	}
}

// load gives the file's ops, sorted by name.
func (s schemaFlags) load() ([]*schema.Op, error) {
	if *s.schema == "" {
		return nil, usagef("want -schema FILE")
	}
	file, err := schema.Load(*s.schema, *s.tags)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(file.Ops, func(a, b *schema.Op) int { return strings.Compare(a.Name(), b.Name()) })
	return file.Ops, nil
}
