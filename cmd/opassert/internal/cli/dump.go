package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/schema"
)

var dumpCommand = command{
	name:    "dump",
	summary: "write the schemas of a live libtorch as YAML",
	about: `
Prints what the dispatcher knows in the form of native_functions.yaml, which
every other command reads. Ops that the form has no words for are comments,
each with the reason. With -schema, tells instead where that file and the
library differ.`,
	run: runDump,
}

func runDump(inv *invocation) error {
	source := newSchemaFlags(inv.flags)
	engine := inv.flags.String("engine", "libtorch", "whose schemas: libtorch")
	namespace := inv.flags.String("ns", "", "the `namespace` to print, such as aten (default: all)")
	torch := newTorchFlags(inv.flags)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if *engine != "libtorch" {
		return usagef("no engine %q has schemas to dump; there is libtorch", *engine)
	}
	if err := torch.use(inv); err != nil {
		return err
	}
	for _, path := range torch.libs {
		if err := libtorch.LoadLibrary(path); err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	if *source.schema != "" {
		return inv.compareSchemas(source, *namespace)
	}
	return libtorch.Dump(inv.stdout, *namespace, func(file []byte) error {
		_, err := schema.Parse("dump", file, nil)
		return err
	})
}

// compareSchemas prints the ops that only the file or only the library has,
// and those whose schemas differ.
func (inv *invocation) compareSchemas(source schemaFlags, namespace string) error {
	file, err := source.load(inv)
	if err != nil {
		return err
	}
	live, err := libtorch.Ops()
	if err != nil {
		return err
	}
	lines := schemaDifferences(file, live, namespace)
	for _, line := range lines {
		fmt.Fprintln(inv.stdout, line)
	}
	if len(lines) > 0 {
		return errFindings
	}
	return nil
}

func schemaDifferences(file []*schema.Op, live []*libtorch.Op, namespace string) []string {
	known := make(map[string]*libtorch.Op, len(live))
	for _, op := range live {
		known[op.Name] = op
	}
	var lines []string
	mine := make(map[string]bool, len(file))
	for _, op := range file {
		name := op.Namespace + "::" + op.Func.Name.String()
		mine[name] = true
		other := known[name]
		text := strings.TrimPrefix(op.Func.String(), op.Namespace+"::")
		switch {
		case namespace != "" && op.Namespace != namespace:
		case other == nil:
			lines = append(lines, fmt.Sprintf("%s: only in %v", name, op.Pos))
		case strings.TrimPrefix(other.Schema, op.Namespace+"::") != text:
			lines = append(lines, fmt.Sprintf("%s: %v has\n  %s\nthe library has\n  %s", name, op.Pos, text, other.Schema))
		}
	}
	for _, op := range live {
		if !mine[op.Name] && (namespace == "" || op.Namespace == namespace) {
			lines = append(lines, op.Name+": only in the library")
		}
	}
	slices.Sort(lines)
	return lines
}
