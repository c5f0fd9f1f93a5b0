package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10/internal/watch"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// ops gives the plan of each op of faults.yaml, as generated code has it.
func ops(t *testing.T) map[string]*asserts.Op {
	t.Helper()
	file, err := schema.Load("faults.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	planner, err := plan.NewPlanner("full", nil, allowlist.Where{})
	if err != nil {
		t.Fatal(err)
	}
	planned := map[string]*asserts.Op{}
	for _, op := range file.Ops {
		made := planner.Plan(op).Asserts(asserts.Content)
		planned[made.Name] = &made
	}
	return planned
}

func TestTableIsWhatTheMarksSay(t *testing.T) {
	marked := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	run := regexp.MustCompile(`(?m)((?:^//opassert:kernel \S+\n)+)func (\w+)\(`)
	mark := regexp.MustCompile(`//opassert:kernel (\S+)`)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range run.FindAllStringSubmatch(string(src), -1) {
			for _, op := range mark.FindAllStringSubmatch(m[1], -1) {
				marked[op[1]] = m[2]
			}
		}
	}
	got := map[string]string{}
	for op, kernel := range kernelOf {
		name := runtime.FuncForPC(reflect.ValueOf(kernel).Pointer()).Name()
		got[op] = name[strings.LastIndex(name, ".")+1:]
	}
	if diff := cmp.Diff(marked, got); diff != "" {
		t.Errorf("marks and table differ (-marks +table):\n%s", diff)
	}
	planned := ops(t)
	for op := range planned {
		if _, ok := marked[op]; !ok {
			t.Errorf("%s has no kernel", op)
		}
	}
	if len(planned) != len(marked) {
		t.Errorf("%d schemas, %d kernels", len(planned), len(marked))
	}
}

// A finding is what a fault and a violation have in common.
type finding struct {
	Code    string
	Subject string
	Element int
	Against string
}

// Every fault is reported once, for the right reason, and nothing else is.
func TestEveryFaultIsFound(t *testing.T) {
	planned := ops(t)
	for _, f := range All() {
		t.Run(f.Op, func(t *testing.T) {
			verdict := judge(t, planned, f.Op, f.Args())
			var got []finding
			for _, v := range verdict.Violations {
				got = append(got, finding{v.Code.String(), v.Subject.Name, v.Subject.Element, v.Against.Name})
			}
			want := []finding{{f.Code.String(), f.Subject, f.Element, f.Against}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", f.Why, diff)
			}
		})
	}
}

func judge(t *testing.T, planned map[string]*asserts.Op, op string, args []any) asserts.Verdict {
	t.Helper()
	record := watch.Call(kernelOf[op], args, asserts.Content)
	if err := record.Fits(planned[op]); err != nil {
		t.Fatal(err)
	}
	return asserts.Judge(planned[op], record.Seen, asserts.Aware())
}

func TestNothingElseIsFound(t *testing.T) {
	planned := ops(t)
	for _, s := range AllSilent() {
		for _, v := range judge(t, planned, s.Op, s.Args()).Violations {
			t.Errorf("%s: %s:\n%v", s.Op, s.Why, v)
		}
	}
}

func TestPanicsPassOn(t *testing.T) {
	for _, p := range AllPanics() {
		args := p.Args()
		before := counts(args)
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, p.Says) {
					t.Errorf("%s: panic %q, want %q", p.Op, said, p.Says)
				}
			}()
			watch.Call(kernelOf[p.Op], args, asserts.Content)
		}()
		if diff := cmp.Diff(before, counts(args)); diff != "" {
			t.Errorf("%s leaves references (-before +after):\n%s", p.Op, diff)
		}
	}
}

// counts gives the use counts of all tensors among arguments.
func counts(args []any) []int32 {
	var all []int32
	for _, arg := range args {
		ts, _ := watch.Tensors(arg)
		for _, x := range ts {
			o := asserts.Observe(x, asserts.Identity)
			all = append(all, o.ImplUses, o.StorageUses)
		}
	}
	return all
}

// Every cell of the matrix has a fault or a reason, and not both.
func TestMatrixIsFull(t *testing.T) {
	planted := 0
	for _, cell := range Matrix() {
		planted += len(cell.Faults)
		if (len(cell.Faults) > 0) == (cell.Impossible != "") {
			t.Errorf("%v, %s, %s: %d faults, impossible since %q", cell.Code, cell.Kind, cell.Class, len(cell.Faults), cell.Impossible)
		}
	}
	if planted != len(All()) {
		t.Errorf("%d faults in the matrix, %d in all", planted, len(All()))
	}
}

// What the table says of a fault's op and subject is what the schema says.
func TestTableIsWhatTheSchemaSays(t *testing.T) {
	file, err := schema.Load("faults.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	classes := map[schema.Class]Class{schema.View: View, schema.InPlace: InPlace, schema.OutOfPlace: OutOfPlace}
	byName := map[string]*schema.Op{}
	for _, op := range file.Ops {
		byName[op.Namespace+"::"+op.Func.Name.String()] = op
	}
	planned := ops(t)
	for _, f := range All() {
		if got := classes[byName[f.Op].Class()]; got != f.Class {
			t.Errorf("%s is %s, the table says %s", f.Op, got, f.Class)
		}
		if got := kindOf(t, byName[f.Op], planned[f.Op], f.Subject); got != f.Kind && f.Kind != Out {
			t.Errorf("%s of %s is a %s, the table says %s", f.Subject, f.Op, got, f.Kind)
		}
	}
}

func kindOf(t *testing.T, op *schema.Op, planned *asserts.Op, name string) Kind {
	for _, s := range planned.Args {
		if s.Name == name {
			arg := op.Func.Args[s.Index]
			if arg.Out {
				return Out
			}
			return map[string]Kind{"none": Tensor, "tensorlist": List, "opttensor": Optional, "opttensorlist": OptionalList}[arg.Type.ListKind()]
		}
	}
	for _, s := range planned.Results {
		switch {
		case s.Name != name:
		case s.List:
			return Returned
		case len(planned.Results) > 1:
			return Tuple
		default:
			return Single
		}
	}
	t.Errorf("%s has no %s", planned.Name, name)
	return ""
}
