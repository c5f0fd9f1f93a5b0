package trace

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/opassert/opassert/asserts/preserve"
)

// JSON writes one object:
//
//	{"objects":[...],"violations":[{"code","line","object","impl","cause",
//	"evidence":[lines],"consequence":line,"root":line,"process","type","saw",
//	"breaks","fix","inferred","proof","reasons":[{"line","says"}],"found",
//	"tensor"}],"warnings":[...],"unknown":N,"replaced":N,"records":N,"lines":N}
//
// where a line is the number in the log itself. The consequence is null if the log shows none. A violation with a root
// follows from the violation at that line. The objects are the lives of objects, impls and tensors, written as they
// end: those in which something broke, or all.
type JSON struct {
	w     *bufio.Writer
	enc   *json.Encoder
	all   bool
	lives int
}

// NewJSON returns a JSON that writes to w, with all lives if lives is true.
func NewJSON(w io.Writer, lives bool) *JSON {
	b := bufio.NewWriter(w)
	b.WriteString(`{"objects":[`)
	return &JSON{w: b, enc: json.NewEncoder(b), all: lives}
}

type jsonLife struct {
	Kind        LifeKind    `json:"kind"`
	Address     Address     `json:"address"`
	Type        string      `json:"type,omitempty"`
	Impl        Address     `json:"impl,omitempty"`
	Interpreter Address     `json:"interpreter,omitempty"`
	Process     string      `json:"process,omitempty"`
	Made        string      `json:"made,omitempty"`
	State       string      `json:"state,omitempty"`
	Events      []jsonEvent `json:"events"`
	Dropped     int         `json:"dropped,omitempty"`
}

type jsonEvent struct {
	Line     int64         `json:"line"`
	Event    *What         `json:"event"`
	Address  *Address      `json:"address,omitempty"`
	UseCount *int32        `json:"use_count,omitempty"`
	Type     string        `json:"type,omitempty"`
	Breaks   preserve.Code `json:"breaks,omitempty"`
}

type jsonViolation struct {
	Code        preserve.Code `json:"code"`
	Line        int64         `json:"line"`
	Object      Address       `json:"object"`
	Impl        Address       `json:"impl"`
	Cause       Cause         `json:"cause"`
	Evidence    []int64       `json:"evidence"`
	Consequence *int64        `json:"consequence"`
	Root        int64         `json:"root,omitempty"`
	Process     string        `json:"process,omitempty"`
	Type        string        `json:"type,omitempty"`
	Saw         string        `json:"saw"`
	Breaks      string        `json:"breaks"`
	Fix         string        `json:"fix"`
	Inferred    string        `json:"inferred,omitempty"`
	Proof       string        `json:"proof,omitempty"`
	Reasons     []Reason      `json:"reasons"`
	Against     []Reason      `json:"against,omitempty"`
	Found       string        `json:"found,omitempty"`
	Tensor      Address       `json:"tensor,omitempty"`
	Warning     string        `json:"warning,omitempty"`
}

// Life writes one life.
func (j *JSON) Life(l Life) {
	if !j.all && !l.Broken() {
		return
	}
	if j.lives++; j.lives > 1 {
		j.w.WriteByte(',')
	}
	out := jsonLife{
		Kind: l.Kind, Address: l.Address, Type: l.Type, Impl: l.Impl, Interpreter: l.Interpreter, Process: l.World,
		Made: l.Made.String(), Events: make([]jsonEvent, len(l.Events)), Dropped: l.Dropped,
	}
	if l.Kind == Object {
		out.State = l.State.String()
	}
	for i, e := range l.Events {
		out.Events[i] = jsonEvent{Line: e.Line, Event: e.What, Type: e.Type, Breaks: e.Code}
		if e.At != 0 || e.What == Replaced || e.What == Accessed || e.What == CheckDiffers {
			out.Events[i].Address = &e.At
		}
		if e.Count != NoCount {
			out.Events[i].UseCount = &e.Count
		}
	}
	j.enc.Encode(out)
}

// field writes the next field of the object.
func (j *JSON) field(name string, v any) {
	j.w.WriteString(`,"` + name + `":`)
	j.enc.Encode(v)
}

// End writes the rest.
func (j *JSON) End(r LogReport) error {
	j.w.WriteString(`]`)
	j.field("violations", asJSON(r.Violations))
	j.field("warnings", asJSON(r.Warnings))
	j.field("unknown", r.Unknown)
	j.field("replaced", r.Replaced)
	j.field("records", r.Records)
	j.field("lines", r.Lines)
	j.w.WriteString("}\n")
	return j.w.Flush()
}

func asJSON(all []InvariantViolation) []jsonViolation {
	out := make([]jsonViolation, len(all))
	for i, v := range all {
		out[i] = jsonViolation{
			Code: v.Code, Line: v.Line, Object: v.Object, Impl: v.Impl, Cause: v.Cause, Evidence: v.Lines(),
			Root: v.Root, Process: v.World, Type: v.Type, Saw: v.Saw(), Breaks: v.Code.Breaks(), Fix: v.Code.Fix(),
			Inferred: v.Inferred, Proof: v.Proof, Reasons: v.Evidence, Against: v.Against, Found: v.Found, Tensor: v.Tensor,
			Warning: v.Warning,
		}
		if v.Consequence != 0 {
			out[i].Consequence = &v.Consequence
		}
		if out[i].Reasons == nil {
			out[i].Reasons = []Reason{}
		}
	}
	return out
}
