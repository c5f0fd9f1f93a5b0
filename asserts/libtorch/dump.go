package libtorch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/scanner"
	"io"
	"slices"
	"strings"
)

// Dump writes the schemas of the live dispatcher in the form of PyTorch's native_functions.yaml, sorted by name: those
// of one namespace, or of all for "". The dispatcher accepts more than that form does, so the file is parsed with
// parse; entries for which it reports a [scanner.ErrorList] are written as comments, each with the reason. Kernels are
// named after their operators, since the dispatcher does not know their names.
func Dump(w io.Writer, namespace string, parse func(file []byte) error) error {
	return writeDump(w, namespace, parse, Version, Ops)
}

func writeDump(w io.Writer, namespace string, parse func([]byte) error, version func() (string, error), ops func() ([]*Op, error)) error {
	d, err := newDump(namespace, version, ops)
	if err != nil {
		return err
	}
	for {
		file := d.file()
		err := parse(file)
		if err == nil {
			_, err := w.Write(file)
			return err
		}
		if list, _ := errors.AsType[scanner.ErrorList](err); !d.leaveOut(list) {
			return fmt.Errorf("read the dump back: %w", err)
		}
	}
}

// A dump is a file being composed.
type dump struct {
	head    string
	entries []entry
}

// An entry is one operator in the file.
type entry struct {
	text   string
	line   int    // its first line in the last file
	reason string // why it is a comment
}

func newDump(namespace string, version func() (string, error), ops func() ([]*Op, error)) (*dump, error) {
	number, err := version()
	all, unlisted := ops()
	if err := cmp.Or(err, unlisted); err != nil {
		return nil, err
	}
	d := &dump{head: "# The operators of libtorch " + number + ", written by opassert dump.\n"}
	for _, op := range all {
		if namespace == "" || op.Namespace == namespace {
			d.entries = append(d.entries, entry{text: op.yaml()})
		}
	}
	if len(d.entries) == 0 {
		return nil, fmt.Errorf("libtorch has no operator in the namespace %q", namespace)
	}
	return d, nil
}

// file composes the file.
func (d *dump) file() []byte {
	var b bytes.Buffer
	b.WriteString(d.head)
	line := 2
	for i := range d.entries {
		e := &d.entries[i]
		text := "\n" + e.text
		if e.reason != "" {
			text = "\n# left out: " + e.reason + "\n# " + strings.ReplaceAll(strings.TrimSpace(e.text), "\n", "\n# ") + "\n"
		}
		e.line = line + 1
		line += strings.Count(text, "\n")
		b.WriteString(text)
	}
	return b.Bytes()
}

// leaveOut turns entries with errors into comments, and reports whether there were any.
func (d *dump) leaveOut(errs scanner.ErrorList) bool {
	found := false
	for _, err := range errs {
		for i := range d.entries {
			e := &d.entries[i]
			if last := e.line + strings.Count(e.text, "\n"); e.reason == "" && e.line <= err.Pos.Line && err.Pos.Line < last {
				e.reason = strings.Join(strings.Fields(err.Msg), " ")
				found = true
			}
		}
	}
	return found
}

func (op *Op) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- func: %s\n", yamlText(op.Schema))
	base := op.Name[strings.Index(op.Name, "::")+2:]
	if strings.HasPrefix(base, "_foreach_") {
		b.WriteString("  device_check: NoCheck\n")
	}
	if keys := op.dispatch(); len(keys) > 0 {
		b.WriteString("  dispatch:\n")
		for _, key := range keys {
			fmt.Fprintf(&b, "    %s: %s\n", key, strings.ReplaceAll(base, ".", "_"))
		}
	}
	if len(op.Tags) > 0 {
		fmt.Fprintf(&b, "  tags: [%s]\n", strings.Join(op.Tags, ", "))
	}
	return b.String()
}

// dispatch returns the keys of the table, none for an op that only decomposes.
func (op *Op) dispatch() []string {
	kernels := slices.DeleteFunc(slices.Clone(op.Kernels), func(key string) bool { return strings.HasPrefix(key, "Autograd") }) // the form cannot express them
	backends := slices.DeleteFunc(slices.Clone(kernels), func(key string) bool { return strings.HasPrefix(key, "Composite") })
	switch {
	case op.Composite && len(backends) == 0:
		return nil
	case op.Composite:
		return append(backends, "CompositeImplicitAutograd")
	case len(kernels) == 0:
		return []string{"CUDA"} // this library has no kernel; without a table the op would decompose
	}
	return kernels
}

// yamlText quotes text that would not be a plain scalar.
func yamlText(s string) string {
	if strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}
