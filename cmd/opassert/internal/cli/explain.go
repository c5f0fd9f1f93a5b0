package cli

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/gen/vet"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

var explainCommand = command{
	name:    "explain",
	args:    "OP|CODE|-",
	summary: "show the promises of an op's schema and how they are checked; describe a check or a failed assert",
	run:     runExplain,
}

func runExplain(inv *invocation) error {
	flags := newPlanFlags(inv.flags)
	policy := inv.flags.Bool("policy", false, "")
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	switch {
	case *policy && inv.flags.NArg() == 0:
		return inv.explainPolicies()
	case !*policy && (inv.flags.Arg(0) == "-" || inv.flags.NArg() == 0 && piped()):
		return inv.explainAsserts(flags)
	case *policy || inv.flags.NArg() == 0:
		return usagef("want %s, or -policy", inv.args)
	}
	if known, err := inv.explainCode(inv.flags.Arg(0)); known {
		return err
	}
	asked := strings.TrimPrefix(inv.flags.Arg(0), "aten::")
	ops, err := flags.loadAny(inv, asked)
	if err != nil {
		return err
	}
	planner, err := flags.planner(inv, ops)
	if err != nil {
		return err
	}
	found := overloads(ops, asked)
	if len(found) == 0 {
		return fmt.Errorf("no op %q in %s%s", asked, *flags.schema, suggest(ops, asked))
	}
	for i, op := range found {
		if i > 0 {
			fmt.Fprintln(inv.stdout)
		}
		inv.explain(op, planOp(planner.Plan(op)))
	}
	return nil
}

// loadAny returns the ops of the module's own schemas, if no flag names others and
// they have the op; else the ops that other commands load.
func (p *planFlags) loadAny(inv *invocation, asked string) ([]*schema.Op, error) {
	if *p.schema != "" || len(*p.dirs) > 0 {
		return p.load(inv)
	}
	files, err := checkup.ModuleSchemas()
	if err != nil {
		return nil, err
	}
	config := p.config(inv)
	config.Kernels = true
	var own []*schema.Op
	for _, path := range files {
		file, err := config.Load(printedPath(path))
		if err != nil {
			return nil, err
		}
		own = append(own, file.Ops...)
	}
	if len(overloads(own, asked)) > 0 {
		return own, nil
	}
	ops, err := p.load(inv)
	if err != nil && len(files) > 0 {
		return nil, fmt.Errorf("no op %q in %s%s", asked, strings.Join(files, ", "), suggest(own, asked))
	}
	return ops, err
}

// printedPath is a path relative to the working folder, if it is below that.
func printedPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// explainCode describes the check with a code or name, or a symptom of it, and reports whether there is such a check.
func (inv *invocation) explainCode(text string) (known bool, err error) {
	if c, symptom, err := asserts.ParseSymptom(text); c != 0 {
		if err == nil {
			inv.explainSymptom(c, symptom)
		}
		return true, err
	}
	if c, ok := preserve.ParseCode(text); ok {
		inv.line("%v %s\n  rule    %s\n  seen by opassert trace, asserts/preserve", c, c.Name(), c.Rule())
		return true, nil
	}
	if f := vet.ParseFinding(text); f != nil {
		inv.line("%s %s\n  rule    %s\n  seen by opassert vet", f.Code, f.Name, f.Rule)
		return true, nil
	}
	return false, nil
}

// explainSymptom describes a symptom of a check, or the check if the symptom is "".
func (inv *invocation) explainSymptom(c asserts.Code, s asserts.Symptom) {
	inv.line("%s %s", s.Of(c), c.Name())
	add := func(name, text string) {
		if text != "" {
			inv.line("  %-7s %s", name, text)
		}
	}
	row := s.In(c)
	add("rule", cmp.Or(row.Rule, c.Rule()))
	add("breaks", cmp.Or(row.Breaks, c.BreaksPlain()))
	if inTorch := c.Breaks(); s == "" && inTorch != c.BreaksPlain() {
		add("pytorch", inTorch)
	}
	add("fix", row.Fix)
	add("note", row.Note)
	add("level", c.Level().String())
	if fix := c.InPython(); s == "" && fix != "" {
		add("python", "a __torch_dispatch__ that answers the call has to "+fix)
	}
	for _, r := range c.Symptoms() {
		if s == "" {
			add("symptom", r.Symptom.Of(c)+": "+r.Rule)
		}
	}
}

// overloads returns the op of that name, or every overload of it.
func overloads(ops []*schema.Op, name string) []*schema.Op {
	var found []*schema.Op
	for _, op := range ops {
		if op.Name() == name {
			return []*schema.Op{op}
		}
		if base, _, _ := strings.Cut(op.Name(), "."); base == name {
			found = append(found, op)
		}
	}
	return found
}

func suggest(ops []*schema.Op, name string) string {
	names := slicesx.Map(ops, (*schema.Op).Name)
	return yamlfile.SuggestOp(name, slices.Values(names))
}

func (inv *invocation) explain(op *schema.Op, planned plannedOp) {
	inv.line("%s  (%v)", op.Name(), op.Pos)
	inv.line("  schema  %s", op.Func)
	inv.line("  kind    %v: %s", op.Kind(), kindMeaning[op.Kind()])
	view := ""
	if v := op.View(); v != schema.NotView {
		view = fmt.Sprintf(" (%v)", v)
	}
	inv.line("  class   %v%s", op.Class(), view)
	if op.Autogenerated {
		inv.line("  origin  derived by the code generator from %v", op.Pos)
	}
	if op.IsComposite() {
		inv.line("  note    CompositeImplicit: it decomposes and may return its argument, so its returns promise nothing")
	}
	if len(op.Tags) > 0 {
		inv.line("  tags    %s", strings.Join(op.Tags, ", "))
	}
	if len(planned.Checks) == 0 {
		inv.line("  checks  none")
		return
	}
	inv.line("  checks")
	for _, c := range planned.Checks {
		code, _ := asserts.ParseCode(c.Code)
		inv.line("    %s", c)
		inv.line("      %s", code.Rule())
	}
}

var kindMeaning = map[schema.Kind]string{
	schema.Functional: "it writes no argument",
	schema.Inplace:    "it writes self and returns it",
	schema.Out:        "it writes its results into the out arguments",
	schema.Mutable:    "it writes an argument that is not self",
	schema.Scratch:    "it writes an argument that only holds scratch space",
}

func (inv *invocation) explainPolicies() error {
	w := tabwriter.NewWriter(inv.stdout, 0, 0, 2, ' ', 0)
	for i, p := range asserts.Presets() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "POLICY %s\tSKIPS\n", p.Name)
		for _, line := range p.Table() {
			fmt.Fprintf(w, "%s\t%s\n", line.For, skips(line.Skips))
		}
	}
	return w.Flush()
}

// skips lists the skipped checks, or the others if these are fewer.
func skips(c asserts.Codes) string {
	others := asserts.AllCodes &^ c
	switch {
	case c == 0:
		return "nothing"
	case bits.OnesCount64(uint64(others)) < bits.OnesCount64(uint64(c)):
		return fmt.Sprintf("all but %v", others)
	}
	return c.String()
}
