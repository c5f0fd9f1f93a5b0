package cli

import (
	"fmt"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/schema"
)

func runGen(inv *invocation) error {
	flags := newPlanFlags(inv.flags)
	engine := inv.flags.String("engine", "go", "")
	kernels := inv.flags.String("kernels", "", "")
	out := newOutputFlag(inv.flags, "out")
	name := inv.flags.String("package", "", "")
	tensor := inv.flags.String("tensor", "", "")
	always := inv.flags.Bool("always", false, "")
	check := inv.flags.Bool("check", false, "")
	diff := inv.flags.Bool("diff", false, "")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if err := flags.find(inv); err != nil {
		return err
	}
	o := flags.options(inv)
	o.Kernels, o.Out, o.Package, o.Tensor, o.Always = *kernels, *out, *name, *tensor, *always
	result, err := generate(*engine, o)
	if result.Source != nil {
		inv.printSource(result.Source)
	}
	inv.printExpired(result.Expired)
	inv.printErrors(result.Unread)
	inv.printErrors(result.Order)
	inv.printErrors(result.Unbound.Kernels) // marks of unknown ops
	if ops := result.Unbound.Ops; len(ops) > 0 {
		names := slicesx.Join(ops, " ", (*schema.Op).Name)
		fmt.Fprintf(inv.stderr, "no kernel, so no wrapper, for %d of the ops: %s\n", len(ops), names)
	}
	for _, s := range result.Skipped {
		fmt.Fprintf(inv.stderr, "%v: no wrapper for %s: %s\n", s.Op.Pos, s.Op.Name(), s.Reason)
	}
	lacking := len(result.Unbound.Ops)+len(result.Skipped)+len(result.Unread)+len(result.Order) > 0
	switch {
	case err != nil:
		return err
	case len(result.Unbound.Kernels) > 0 || *flags.strict && lacking:
		return errFindings
	case *diff:
		return inv.diff(result.Files)
	case *check:
		return inv.check(result.Files)
	}
	return inv.write(result)
}

func generate(engine string, o gen.Options) (gen.Result, error) {
	switch {
	case engine != "go" && engine != "libtorch":
		return gen.Result{}, usagef("unknown engine %q; want go or libtorch", engine)
	case o.Out == "":
		return gen.Result{}, usagef("want -out FOLDER")
	case engine == "libtorch" && o.Kernels != "":
		return gen.Result{}, usagef("-kernels is for the engine go: libtorch has its own kernels")
	case engine == "libtorch":
		return gen.GenerateTyped(o)
	case o.Kernels == "":
		return gen.Result{}, usagef("want -kernels FOLDER, or -engine libtorch")
	}
	return gen.Generate(o)
}

func (inv *invocation) diff(files []gen.File) error {
	text, err := gen.Diff(files)
	if err != nil || len(text) == 0 {
		return err
	}
	inv.stdout.Write(text)
	return errFindings
}

func (inv *invocation) check(files []gen.File) error {
	stale, err := gen.Stale(files)
	if err != nil {
		return err
	}
	for _, f := range stale {
		fmt.Fprintf(inv.stdout, "%s is stale: run opassert gen again with the same flags, without -check\n", f.Path)
	}
	if len(stale) > 0 {
		return errFindings
	}
	return nil
}

func (inv *invocation) write(result gen.Result) error {
	stale, err := gen.Stale(result.Files)
	if err != nil {
		return err
	}
	for _, f := range stale {
		if err := inv.claim(use{by: "gen", path: f.Path, writes: true}); err != nil {
			return err
		}
	}
	if err := gen.Write(stale); err != nil {
		return err
	}
	for _, f := range stale {
		fmt.Fprintf(inv.stderr, "wrote %s: %d wrappers\n", f.Path, result.Made)
	}
	if len(stale) == 0 {
		fmt.Fprintf(inv.stderr, "%d wrappers, nothing to change\n", result.Made)
	}
	return nil
}

func (inv *invocation) printExpired(expired []*allowlist.Entry) {
	for _, e := range expired {
		fmt.Fprintf(inv.stderr, "%v: the exception for %s expired on %s: renew or remove it\n",
			e.Pos, e.Op, e.Expires.Format("2006-01-02"))
	}
}
