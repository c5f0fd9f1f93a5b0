package torch

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// The ops with which the Python of a worker's kernels calls the formulas and rules that are registered for another op,
// lists the changes that calls made, and reads the conditions of a kernel that raised, the texts of its source, and the
// writes that it loses; see REQUESTS in opassert_host/serve.py.
const (
	rulesOp        = "opassert_host::rules"
	ownRulesOp     = "opassert_host::own_rules"
	leftOp         = "opassert_host::left"
	askedOp        = "opassert_host::asked"
	registrationOp = "opassert_host::registration"
	lostWritesOp   = "opassert_host::lost_writes"
)

// A ruleFault is a fault as opassert_host/formulas.py writes it.
type ruleFault struct {
	asserts.Fault
	File string
	Line int
}

// Traces reports whether copies are tracked: where kernels are Python's.
func (l *Libtorch) Traces() bool { return l.host != nil }

// passTo passes a call of an op to an op of the host, and returns its answer.
func passTo(name string, op *asserts.Op, args []any) (string, error) {
	called, err := libtorch.Lookup(op.Name)
	host, without := libtorch.Lookup(name)
	if err := cmp.Or(err, without); err != nil {
		return "", err
	}
	text, err := called.PassTo(host, torchValues(args)...)
	return text, thrown(err)
}

// answer calls an op of the host, and returns its answer.
func answer(name string, args ...any) (string, error) {
	v, err := result(name, torchValues(args)...)
	return v.Str, err
}

// result calls an op, and returns its first result.
func result(name string, args ...libtorch.Value) (v libtorch.Value, err error) {
	var out libtorch.Outcome
	op, err := libtorch.Lookup(name)
	if err == nil {
		err = op.Call(asserts.Off, &out, args...)
	}
	if err != nil {
		return v, err
	}
	return out.Results[0], nil
}

func faultsOf(code asserts.Code, said []ruleFault) []asserts.Fault {
	var faults []asserts.Fault
	for _, f := range said {
		f.Code, f.Site = cmp.Or(f.Code, code), asserts.Site{File: f.File, Line: f.Line}
		faults = append(faults, f.Fault)
	}
	return faults
}

// LostWrites calls the kernel of an op in Python, and returns the arguments of which it writes copies
// that nothing reads, and where.
func (l *Libtorch) LostWrites(op *asserts.Op, args []any) map[string]asserts.Site {
	text, err := passTo(lostWritesOp, op, args)
	var said []ruleFault
	if err != nil || json.Unmarshal([]byte(text), &said) != nil {
		return nil
	}
	lost := make(map[string]asserts.Site)
	for _, d := range said {
		lost[d.Argument] = asserts.Site{File: d.File, Line: d.Line}
	}
	return lost
}

// RestoreState returns the changes that calls made besides those of tensors since it was last called, and undoes them.
func (l *Libtorch) RestoreState() []asserts.Fault {
	changes := libtorch.RestoreState
	if l.host != nil {
		changes = func() (string, error) { return answer(leftOp) }
	}
	changed, err := changes()
	if err != nil || changed == "" {
		return nil
	}
	return []asserts.Fault{Changed(strings.ReplaceAll(changed, "\n", "; "))}
}

// OtherSettings sets some settings to values that no kernel is likely to choose, or to those from before.
func (l *Libtorch) OtherSettings(other bool) error { return libtorch.OtherSettings(other) }

// SaveState makes the state of this process that which RestoreState restores.
func (l *Libtorch) SaveState() error {
	if l.host != nil {
		return nil // kernels are in another
	}
	return libtorch.SaveState()
}

// Changed returns the fault of a call that changes state outside tensors.
func Changed(saw string) asserts.Fault {
	return asserts.Fault{Code: asserts.UndeclaredWrite, Symptom: "state", Saw: saw}
}

// A registration is the Python code that a user registered for an op.
type registration struct {
	Texts      []string // in the source of its kernel
	Decomposes bool     // it is registered as CompositeImplicitAutograd, by that name
	Faults     []ruleFault
}

// registration returns that of an op, an empty one where its kernel is not Python's.
func (l *Libtorch) registration(op string) registration {
	var r registration
	if l.host == nil {
		return r
	}
	if text, err := answer(registrationOp, op); err == nil {
		_ = json.Unmarshal([]byte(text), &r) // as of a kernel without source
	}
	return r
}

// raised adds the failed condition in the source of a kernel in Python to the exception that it raised.
func (l *Libtorch) raised(err error) error {
	t, ok := err.(*engine.Thrown)
	if !ok || l.host == nil || !strings.Contains(t.Message, "At:\n") {
		return err
	}
	condition, known := l.host.conditions[t.Message]
	if !known || strings.HasPrefix(t.Message, "SystemExit") { // which is a fault each time
		if text, err := answer(askedOp, t.Message); err == nil {
			condition = text
		}
		l.host.conditions[t.Message] = condition
	}
	if t.Message = ownFrames.ReplaceAllString(t.Message, ""); condition != "" {
		t.Asks = "assert failed: " + condition
	}
	return t
}

var ownFrames = regexp.MustCompile(`\n *\S+/torch/_\S+\(\d+\): .*`) // PyTorch's, of the call of a kernel in Python
