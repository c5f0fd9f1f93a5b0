// Package bind finds kernels in a Go package and matches them to schemas. A
// kernel is a function or method whose doc comment has a line
//
//	//opassert:kernel add.Tensor
//
// Its parameters are the schema's arguments in their order, after an optional context.Context, or in the order of the
// names after the op; its results are the schema's returns, before an optional error, or none if the op returns the
// arguments that it writes. The wrapper has its name, or the one after the op: add.Tensor as Plus. A line beside the
// mark allows the kernel to break a rule, with the reason:
//
//	//opassert:allow OA009 it sorts its argument, as its callers know
package bind

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// A Wrapper is one function to generate: a kernel, the plan of its op, and the names used in its text.
type Wrapper struct {
	Name         string // the wrapper's Go name
	OpVar        string // the Go name of the op's table
	Kernel       Kernel
	Plan         plan.Plan
	Params       []Param // in the kernel's order
	Args         []Param // the arguments of the schema, in its order
	Order        []int   // as in asserts.Kernel; nil in the schema's order
	Results      []Result
	NamedResults bool   // the kernel's results have names
	Context      string // the context parameter's name, "" for none
	Err          string // the error result's name, "" for none
	Call         string // the local variable that records the call
	Arguments    string // the local variable of the function that observes the arguments
	Elem         string // the local variable for the elements of a list
	Tensor       types.Type
	Observer     *Observer // of the tensor type, nil if that has a method
}

// Locals returns the names that the wrapper declares.
func (w Wrapper) Locals() []string {
	params := slicesx.Map(w.Params, func(p Param) string { return p.Name })
	results := slicesx.Map(w.Results, func(r Result) string { return r.Name })
	return slices.Concat([]string{w.Call, w.Arguments, w.Elem, w.Err}, params, results)
}

// A Param is a parameter of a wrapper.
type Param struct {
	Name     string
	Type     types.Type
	Role     Role
	Variadic bool
}

// A Result is a result of a wrapper.
type Result struct {
	Name string
	Type types.Type
	Role Role
}

// A Role is how a wrapper treats a value.
type Role uint8

const (
	Plain       Role = iota // passes it on
	One                     // records a tensor
	List                    // records a list of tensors
	Pointer                 // records a tensor through a pointer that may be nil
	PointerList             // records a list of such pointers
)

// Unbound holds ops without a kernel, and marks for unknown ops.
type Unbound struct {
	Ops     []*schema.Op      // without a kernel
	Kernels scanner.ErrorList // the marks
}

// Bind matches the kernels to the ops. tensor names the tensor type as "import/path.Name" or "*import/path.Name"; ""
// finds it from the signatures. The error is a [scanner.ErrorList] with a line for each kernel that does not fit its
// schema.
func Bind(pkg *Package, ops []*schema.Op, planner *plan.Planner, tensor string) ([]Wrapper, Unbound, error) {
	b := &binder{pkg: pkg}
	pairs, unbound := b.pair(ops)
	b.tensor = b.findTensor(pairs, tensor)
	var wrappers []Wrapper
	if b.tensor != nil {
		for _, p := range pairs {
			w := b.wrapper(p, planner)
			if b.observed(b.tensor) {
				w.Observer = b.pkg.Observer
			}
			wrappers = append(wrappers, w)
		}
		b.refuseClashes(wrappers)
	}
	if len(b.errs) > 0 {
		b.errs.Sort()
		return nil, unbound, b.errs
	}
	return wrappers, unbound, nil
}

type binder struct {
	pkg    *Package
	tensor types.Type
	errs   scanner.ErrorList
}

type pair struct {
	op     *schema.Op
	kernel Kernel
}

func (b *binder) errorf(pos token.Position, format string, args ...any) {
	b.errs.Add(pos, fmt.Sprintf(format, args...))
}

// pair joins kernels and ops by name, sorted by op.
func (b *binder) pair(ops []*schema.Op) ([]pair, Unbound) {
	byName := map[string]*schema.Op{}
	var names []string
	for _, op := range ops {
		byName[op.Name()] = op
		names = append(names, op.Name())
	}
	var pairs []pair
	var unbound Unbound
	bound := map[*schema.Op]Kernel{}
	for _, k := range b.pkg.Kernels {
		op := byName[strings.TrimPrefix(k.Op, "aten::")]
		switch first, twice := bound[op]; {
		case op == nil:
			unbound.Kernels.Add(k.Mark, fmt.Sprintf("kernel %s is for %q, which the schema does not have%s",
				k.Func.Name(), k.Op, yamlfile.Suggest(pythonName.ReplaceAllString(k.Op, ""), names)))
		case twice:
			b.errorf(k.Pos, "%s is a second kernel for %s; the first is %s at %v", k.Func.Name(), k.Op, first.Func.Name(), first.Pos)
		default:
			bound[op] = k
			pairs = append(pairs, pair{whole(op), k})
		}
	}
	for _, op := range ops {
		if _, ok := bound[op]; !ok && !op.Autogenerated { // torchgen makes the kernels of ops that it derives
			unbound.Ops = append(unbound.Ops, op)
		}
	}
	unbound.Kernels.Sort()
	slices.SortFunc(pairs, func(x, y pair) int { return strings.Compare(x.kernel.Op, y.kernel.Op) })
	return pairs, unbound
}

// pythonName matches what Python code has around the name of an op: torch.ops.aten.relu.default.
var pythonName = regexp.MustCompile(`^((torch|ops|aten|at)[.:/]+)+|\.default$`)

// whole returns the op as its kernel runs it: not decomposed, even if it is composite.
func whole(op *schema.Op) *schema.Op {
	own := *op
	own.CompositeImplicit = false
	return &own
}

func (b *binder) refuseClashes(wrappers []Wrapper) {
	first := map[string]Wrapper{}
	for _, w := range wrappers {
		if other, taken := first[w.Name]; taken {
			b.errorf(w.Kernel.Mark, "the wrappers of %s and %s (%v) would both be %s; name this one: %s %s as %s",
				w.Kernel.Op, other.Kernel.Op, other.Kernel.Mark, w.Name,
				mark, w.Kernel.Op, strings.ReplaceAll(plan.GoName(w.Plan.Op.Func.Name), "_", "InPlace"))
			continue
		}
		first[w.Name] = w
	}
}
