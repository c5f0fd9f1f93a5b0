package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
)

// table returns the op as data, without the parts that package asserts derives.
func (w *writer) table(name string, p plan.Plan) string {
	op := p.Table()
	w.asserts("Op") // imports the package
	t := tableText{asserts: w.imports[assertsPath]}
	first := "var " + name + " = " + t.asserts + ".Op{Name: " + strconv.Quote(op.Name) + ","
	t.add(first, true)
	if op.Declared != "" {
		t.field("Declared", strconv.Quote(op.Declared))
	}
	t.field("Schema", quoted(op.Schema, "\n\t\t"))
	t.list("Args", "Subject", slicesx.Map(op.Args, subject))
	t.list("Results", "Subject", slicesx.Map(op.Results, subject))
	if op.Composite && len(op.Results) > 0 {
		t.field("Composite", "true")
	}
	if len(op.Tags) > 0 {
		t.field("Tags", texts(op.Tags))
	}
	for _, waiver := range p.Waivers() {
		if slices.Contains(op.Waived, waiver.Code) || slices.Contains(op.Excused, waiver) {
			t.comment(fmt.Sprintf("waived: %s %s: %s", waiver.Symptom.Of(waiver.Code), waiver.Code.Name(), waiver.Reason))
		}
	}
	t.list("Waived", "Code", slicesx.Map(op.Waived, func(c asserts.Code) string { return strconv.Itoa(int(c)) }))
	t.list("Excused", "Excuse", slicesx.Map(op.Excused, excuse))
	t.list("Notes", "Excuse", slicesx.Map(op.Notes, excuse))
	if op.Checks != nil { // a preset, perhaps one without checks
		t.field("Checks", t.checks(&op))
	}
	return strings.Join(t.lines, "\n") + "\n}"
}

func excuse(e asserts.Excuse) string {
	symptom := ""
	if e.Symptom != "" {
		symptom = fmt.Sprintf("Symptom: %q, ", string(e.Symptom))
	}
	return fmt.Sprintf("{Code: %d, %sReason: %s}", int(e.Code), symptom, quoted(e.Reason, "\n\t\t\t"))
}

// checked ends the sentence on the kernel that a function calls: with the promises of the schema
// that are checked. It names no check, so that a new one changes no committed file.
func checked(p plan.Plan) string {
	switch {
	case p.Codes() == 0:
		return "."
	case p.Table().Composite:
		return ", checked as composite."
	}
	return ", checked as " + p.Op.Class().String() + "."
}

// columns are those of a table's lines, less what gofmt adds to align them.
const columns = 112

// A tableText is the text of a table.
type tableText struct {
	asserts string // the name of the package
	lines   []string
	open    bool // the last line takes another field
}

func (t *tableText) add(line string, open bool) { t.lines, t.open = append(t.lines, line), open }

// field adds a field, to the last line if there is room.
func (t *tableText) field(key, value string) {
	last, text := &t.lines[len(t.lines)-1], key+": "+value+","
	several := strings.Contains(value, "\n")
	if t.open && !several && len(*last)+len(text) <= columns {
		*last += " " + text
	} else {
		t.add("\t"+text, !several)
	}
}

// list adds a field that is a list, of several lines if it is too long for one.
func (t *tableText) list(key, typ string, elems []string) {
	if len(elems) == 0 {
		return
	}
	open, all := "[]"+t.asserts+"."+typ+"{", strings.Join(elems, ", ")
	if len(key)+len(open)+len(all) < columns && !strings.Contains(all, "\n") {
		t.field(key, open+all+"}")
		return
	}
	var lines []string
	for _, e := range elems {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+len(e) < columns {
			lines[last] += ", " + e
		} else {
			lines = append(lines, e)
		}
	}
	t.field(key, open+"\n\t\t"+strings.Join(lines, ",\n\t\t")+",\n\t}")
}

func (t *tableText) comment(text string) {
	line := "\t//"
	for _, word := range strings.Fields(printable(strings.Join(strings.Fields(text), " "))) {
		if len(line)+len(word) > columns {
			t.add(line, false)
			line = "\t//"
		}
		line += " " + word
	}
	t.add(line, false)
}

func subject(s asserts.Subject) string {
	var b strings.Builder
	separator := "{"
	field := func(given bool, name, value string) {
		if given {
			b.WriteString(separator + name + ": " + value)
			separator = ", "
		}
	}
	field(s.Index > 0, "Index", strconv.Itoa(s.Index))
	field(true, "Name", strconv.Quote(s.Name))
	field(true, "Type", strconv.Quote(s.Type))
	field(s.Suffix != "", "Suffix", strconv.Quote(s.Suffix))
	field(s.Before != nil, "Before", texts(s.Before))
	field(s.After != nil, "After", texts(s.After))
	field(s.Write, "Write", "true")
	field(s.Out, "Out", "true")
	field(s.List, "List", "true")
	return b.String() + "}"
}

func texts(list []string) string {
	return "[]string{" + slicesx.Join(list, ", ", strconv.Quote) + "}"
}

// quoted returns a string literal, of several lines if it is too long for one.
func quoted(text, newline string) string {
	var parts []string
	for len(text) > columns-len(`Schema: ""`) {
		at := strings.LastIndexByte(text[:columns-len(`Schema: "" +`)], ' ') + 1
		if at == 0 {
			break
		}
		parts, text = append(parts, strconv.Quote(text[:at])), text[at:]
	}
	return strings.Join(append(parts, strconv.Quote(text)), " +"+newline)
}

// checks returns the plan of a preset, each check after a comment that describes it.
func (t *tableText) checks(op *asserts.Op) string {
	var b strings.Builder
	for _, c := range op.Checks {
		against, what := "", ""
		if subject := op.Subject(c.Against); subject != nil {
			against, what = fmt.Sprintf(", Against: %d", int(c.Against)), " against "+subject.Name
		}
		what = fmt.Sprintf("%v %s on %s%s", c.Code, c.Code.Name(), op.Subject(c.On).Name, what)
		fmt.Fprintf(&b, "\t\t// %s\n\t\t{Code: %d, On: %d%s},\n", printable(what), int(c.Code), int(c.On), against)
	}
	if b.Len() == 0 {
		return "[]" + t.asserts + ".Check{}"
	}
	return "[]" + t.asserts + ".Check{\n" + b.String() + "\t}"
}
