// Package bind finds kernels in a Go package and matches them to schemas. A
// kernel is a function or method whose doc comment has a line
//
//	//opassert:kernel add.Tensor
//
// Its parameters are the schema's arguments in their order, after an optional
// context.Context; its results are the schema's returns, before an optional
// error.
package bind

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/schema/yamlfile"
)

// A Wrapper is one function to generate: a kernel, the plan of its op, and
// the names that its text will use.
type Wrapper struct {
	Name     string // the wrapper's Go name
	OpVar    string // the Go name of the op's table
	Kernel   Kernel
	Plan     plan.Plan
	Params   []Param
	Results  []Result
	Context  string    // the context parameter's name, "" for none
	Err      string    // the error result's name, "" for none
	Call     string    // the local variable that records the call
	Buf      string    // the local variable that it records into
	Elem     string    // the local variable that goes over a list
	Observer *Observer // of the tensor type, nil where that has a method
}

// Locals returns the names that the wrapper declares.
func (w Wrapper) Locals() []string {
	names := []string{w.Call, w.Buf, w.Elem, w.Err}
	for _, p := range w.Params {
		names = append(names, p.Name)
	}
	for _, r := range w.Results {
		names = append(names, r.Name)
	}
	return names
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

// A Role says what a wrapper does with a value.
type Role uint8

const (
	Plain       Role = iota // hands it on
	One                     // records a tensor
	List                    // records a list of tensors
	Pointer                 // records a tensor behind a pointer that may be nil
	PointerList             // records a list of such pointers
)

// Unbound says what found no partner.
type Unbound struct {
	Ops     []*schema.Op      // without a kernel
	Kernels scanner.ErrorList // the marks without an op
}

// Bind matches the kernels to the ops. tensor names the tensor type as
// "import/path.Name" or "*import/path.Name"; "" finds it from the signatures.
// The error is a [scanner.ErrorList] with a line for each kernel that does not
// fit its schema.
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
				k.Func.Name(), k.Op, yamlfile.Suggest(strings.TrimPrefix(k.Op, "aten::"), names)))
		case twice:
			b.errorf(k.Pos, "%s is a second kernel for %s; the first is %s at %v", k.Func.Name(), k.Op, first.Func.Name(), first.Pos)
		default:
			bound[op] = k
			pairs = append(pairs, pair{op, k})
		}
	}
	for _, op := range ops {
		if _, ok := bound[op]; !ok {
			unbound.Ops = append(unbound.Ops, op)
		}
	}
	unbound.Kernels.Sort()
	slices.SortFunc(pairs, func(x, y pair) int { return strings.Compare(x.kernel.Op, y.kernel.Op) })
	return pairs, unbound
}

// refuseClashes reports two ops that would get the same Go name.
func (b *binder) refuseClashes(wrappers []Wrapper) {
	first := map[string]Wrapper{}
	for _, w := range wrappers {
		if other, taken := first[w.Name]; taken {
			b.errorf(w.Kernel.Pos, "%s and %s (%v) would both be %s in Go; rename the overload of one of them",
				w.Kernel.Op, other.Kernel.Op, other.Kernel.Pos, w.Name)
			continue
		}
		first[w.Name] = w
	}
}
