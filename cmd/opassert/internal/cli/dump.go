package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/schema"
)

var dumpCommand = command{
	name:    "dump",
	summary: "write the schemas of a live libtorch as YAML",
	run:     runDump,
}

func runDump(inv *invocation) error {
	source := newSchemaFlags(inv.flags)
	namespace := inv.flags.String("ns", "", "the `namespace` to print, such as aten (default: all)")
	torch := newTorchFlags(inv.flags, source)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if err := torch.use(inv); err != nil {
		return err
	}
	for _, path := range torch.files {
		if err := libtorch.LoadLibrary(path); err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	if *source.schema != "" {
		return inv.compareSchemas(source, *namespace)
	}
	return libtorch.Dump(inv.stdout, *namespace, func(file []byte) error {
		_, err := schema.Config{Strict: true}.Parse("dump", file, nil)
		return err
	})
}

// compareSchemas prints the differences between the file and the library, and their
// numbers by kind on stderr.
func (inv *invocation) compareSchemas(source schemaFlags, namespace string) error {
	file, err := source.load(inv)
	if err != nil {
		return err
	}
	live, err := libtorch.Ops()
	if err != nil {
		return err
	}
	d := schemaDifferences(file, live, namespace)
	for _, line := range d.lines {
		inv.line("%s", line)
	}
	fmt.Fprintf(inv.stderr, "%d ops compared: %s\n", d.compared, d.summary())
	if len(d.lines) > 0 {
		return errFindings
	}
	return nil
}

// differences are those between a schema file and a library.
type differences struct {
	lines    []string
	compared int
	kinds    map[string]int // ops by the kind of difference
}

func schemaDifferences(file []*schema.Op, live []*libtorch.Op, namespace string) differences {
	d := differences{kinds: map[string]int{}}
	known := make(map[string]*libtorch.Op, len(live))
	for _, op := range live {
		known[op.Name] = op
	}
	mine, namespaces := make(map[string]bool, len(file)), make(map[string]bool)
	for _, op := range file {
		if namespace != "" && op.Namespace != namespace {
			continue
		}
		name := op.Namespace + "::" + op.Func.Name.String()
		mine[name], namespaces[op.Namespace] = true, true
		if other := known[name]; other == nil {
			d.add("ops only in the file", fmt.Sprintf("%s: only in the file, %v", name, op.Pos))
		} else {
			d.compare(name, op, other)
		}
	}
	elsewhere := map[string]int{}
	for _, op := range live {
		switch {
		case mine[op.Name] || namespace != "" && op.Namespace != namespace:
		case namespaces[op.Namespace]:
			d.add("ops only in the library", op.Name+": only in the library, where code registers it, with no entry in the file")
		default:
			elsewhere[op.Namespace]++
		}
	}
	for ns, n := range elsewhere {
		d.add("namespaces only in the library", fmt.Sprintf("%s: a namespace of the library alone, with %d ops", ns, n))
	}
	slices.Sort(d.lines)
	return d
}

func (d *differences) add(kind, line string) {
	d.kinds[kind]++
	d.lines = append(d.lines, line)
}

func (d *differences) compare(name string, op *schema.Op, live *libtorch.Op) {
	d.compared++
	other, err := schema.ParseDispatcher(live.Namespace + "::" + strings.TrimPrefix(live.Schema, live.Namespace+"::"))
	if err != nil {
		d.add("spelling", fmt.Sprintf("%s: %v has %s, the library %s, which can't be read: %v", name, op.Pos, op.Func, live.Schema, err))
		return
	}
	for _, found := range schema.Compare(op.Func, other.Func) {
		d.add(found.Kind, fmt.Sprintf("%s: %v: %s in the library", name, op.Pos, found.Text))
	}
}

// summary counts the differences by kind: "2 in default values, 1 in types".
func (d *differences) summary() string {
	if len(d.kinds) == 0 {
		return "no difference"
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(d.kinds)) {
		word := " in "
		if strings.Contains(kind, "only") {
			word = " "
		}
		parts = append(parts, fmt.Sprint(d.kinds[kind], word, kind))
	}
	return strings.Join(parts, ", ")
}
