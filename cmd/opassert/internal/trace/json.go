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
// follows from the violation at that line. The objects are the lives of objects, impls and tensors in which something
// broke, written as they end.
type JSON struct {
	w     *bufio.Writer
	enc   *json.Encoder
	lives int
}

// NewJSON returns a JSON that writes to w.
func NewJSON(w io.Writer) *JSON {
	b := bufio.NewWriter(w)
	b.WriteString(`{"objects":[`)
	return &JSON{w: b, enc: json.NewEncoder(b)}
}

type jsonLife struct {
	Life
	State  string      `json:"state,omitempty"`
	Events []jsonEvent `json:"events"`
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
	InvariantViolation
	Evidence    []int64  `json:"evidence"`
	Consequence *int64   `json:"consequence"`
	Saw         string   `json:"saw"`
	Breaks      string   `json:"breaks"`
	Fix         string   `json:"fix"`
	Reasons     []Reason `json:"reasons"`
}

// Life writes one life.
func (j *JSON) Life(l Life) {
	if !l.Broken() {
		return
	}
	if j.lives++; j.lives > 1 {
		j.w.WriteByte(',')
	}
	out := jsonLife{Life: l, Events: make([]jsonEvent, len(l.Events))}
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
			InvariantViolation: v, Evidence: v.Lines(), Saw: v.Saw(), Breaks: v.Code.Breaks(), Fix: v.Code.Fix(),
			Reasons: append([]Reason{}, v.Evidence...), // never null
		}
		if v.Consequence != 0 {
			out[i].Consequence = &v.Consequence
		}
	}
	return out
}
