package watch

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/schema"
)

// A watched op is an op whose calls are observed.
type watchedOp struct {
	number int64
	name   string
	custom bool // it is not PyTorch's own, or its kernel is not
	listed *libtorch.Op
	judged *asserts.Op   // with the waived checks
	parts  *asserts.Op   // the same, with checks of the tensors inside tensors
	faked  *asserts.Op   // with the checks of its fake
	waived asserts.Codes // on every device, or on that of the kernels
	on     func(device string) (engine.Checks, error)

	excused []asserts.Excuse // by the same allowlists, with symptoms

	followed bool           // its results are followed until a backward reaches one
	unseen   []asserts.Skip // checks that are not judged where its calls are seen
	unread   string         // why its schema cannot be read
	referred int            // calls with violations of what refers to tensors, before Python's collector ran
	freed    bool           // after it, a call had none
}

// ops are the ops that some process has called.
type ops struct {
	mu     sync.Mutex
	all    []*watchedOp
	byText map[string]*watchedOp // by version of libtorch and the op's line in its listing
	plan   func(version, device string, op *schema.Op) (engine.Checks, error)
	wants  func(op string) bool
	record int // how many calls of each op to record; 0: none
}

// meet returns the op of a record, and the answer to the watcher about it.
func (o *ops) meet(version, record string) (*watchedOp, []byte, error) {
	marks, record, _ := strings.Cut(record, "\n")
	listed, err := libtorch.ReadOp(record)
	if err != nil {
		return nil, nil, err
	}
	// The record holds an address that differs between processes.
	key := marks + version + "\x00" + listed.Name + "\x00" + listed.Schema
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.byText[key]
	if w == nil {
		if w, err = o.add(version, marks, listed); err != nil {
			return nil, nil, err
		}
		o.byText[key] = w
	}
	looked := w.unread == "" && (o.wants == nil || o.wants(w.name))
	recorded := o.record > 0 && (w.custom || o.wants != nil) // it or its kernel is not PyTorch's own, or selected
	answer := about{w.number, truth(w.custom), truth(looked), truth(recorded), truth(looked && w.followed)}
	expected := new(expectation).words()
	if looked {
		expected = expect(w.judged, w.waived)
	}
	return w, words(append(answer.words(), expected...)...), nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// add makes the plan of an op. An A among the marks says that its versions are raised above where
// its calls are seen, so that it is not known there whether they will be.
func (o *ops) add(version, marks string, listed *libtorch.Op) (*watchedOp, error) {
	raised := strings.HasPrefix(marks, "A")
	_, device, others := strings.Cut(marks, "K")
	custom := others || torch.Custom(listed.Name)
	w := &watchedOp{number: int64(len(o.all)), name: listed.Name, listed: listed, custom: custom}
	o.all = append(o.all, w)
	op, err := torch.Schema(listed)
	if err != nil {
		w.unread = err.Error()
		return w, nil
	}
	composite := listed.Composite && !op.CompositeImplicit // seen above the ops that it calls, which hold its results
	boxed := torch.Unseen(op, listed)
	w.on = func(device string) (engine.Checks, error) { return o.plan(version, device, op) }
	plan, err := w.on(device)
	if err != nil {
		return nil, err
	}
	plan.Op.Declared = torch.Declared(listed, torch.OwnLine(listed, nil))
	w.excused = plan.Waived
	for _, e := range plan.Waived {
		if e.Symptom == "" {
			w.waived |= asserts.CodesOf(e.Code)
		}
	}
	judged, faked := plan.Op, plan.Op
	w.faked = &faked
	judged.Checks = slices.DeleteFunc(judged.Plan(), func(c asserts.Check) bool {
		reason := ""
		hidden := slices.IndexFunc(boxed, func(u engine.Unseen) bool { return u.Code == c.Code && u.On == c.On })
		switch {
		case hidden >= 0 && !composite:
			reason = boxed[hidden].Reason
		case raised && c.Code == asserts.VersionBump:
			reason = "autograd's kernel raises the version, after the observed call"
		case c.Code == asserts.KeptArgument && !w.custom:
			reason = "not judged of PyTorch's own ops: other threads may use the tensors, and autograd keep them"
		case c.Code == asserts.KeptArgument && hasView(&plan.Op, c.On):
			reason = "autograd keeps the base of a view"
		case c.Code == asserts.AutogradKernel && !torch.Custom(w.name):
			reason = ownFormula
		case c.Code == asserts.AutogradKernel && listed.Composite:
			reason = decomposedHere
		case c.Code == asserts.AutogradKernel:
			w.followed = !w.waived.Has(asserts.AutogradKernel)
			return true
		case c.Code == asserts.WriteBeside && !w.custom:
			reason = "bytes of PyTorch's own ops are not copied"
		case composite && (c.Code == asserts.FreshImpl || c.Code == asserts.FreshStorage):
			reason = "the op decomposes, and autograd may hold what it calls"
		default:
			return !c.Code.OnCall()
		}
		if s := (asserts.Skip{Code: c.Code, Reason: reason}); !slices.Contains(w.unseen, s) {
			w.unseen = append(w.unseen, s)
		}
		return true
	})
	w.judged, w.parts = &judged, asserts.WithParts(&judged)
	return w, nil
}

// excuses reports whether an allowlist waives a violation's check on its device or on that of the call; an
// entry may make it a note instead.
func (w *watchedOp) excuses(v *asserts.Violation, device string) bool {
	return w.excusesOn(v.Device, v) || w.excusesOn(device, v)
}

func (w *watchedOp) excusesOn(device string, v *asserts.Violation) bool {
	plan, err := w.on(device)
	if err != nil { // it was an error without a device too
		return false
	}
	covers := func(e asserts.Excuse) bool { return e.Covers(v.Code, v.Symptom) }
	if i := slices.IndexFunc(plan.Op.Notes, covers); i >= 0 {
		v.Note = plan.Op.Notes[i].Reason
	}
	return slices.ContainsFunc(plan.Waived, covers)
}

// hasView reports whether a return is a view of an argument.
func hasView(op *asserts.Op, arg asserts.Ref) bool {
	isView := func(c asserts.Check) bool { return c.Code == asserts.ViewStorage && c.Against == arg }
	return slices.ContainsFunc(op.Plan(), isView)
}

func (o *ops) numbered(n int64) *watchedOp {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n < 0 || n >= int64(len(o.all)) {
		return nil
	}
	return o.all[n]
}

// words are the unit of both sides.
func words(w ...int64) []byte {
	var b []byte
	for _, x := range w {
		b = binary.NativeEndian.AppendUint64(b, uint64(x))
	}
	return b
}
