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
//	"evidence":[lines],"consequence":line}],"unknown":N}
//
// where a line is the number that the log itself gives. The consequence is null
// if the log shows none. The objects are the lives of objects, impls and
// tensors, written as they end.
type JSON struct {
	w     *bufio.Writer
	enc   *json.Encoder
	lives int
	err   error
}

// NewJSON gives a JSON that writes to w.
func NewJSON(w io.Writer) *JSON {
	b := bufio.NewWriter(w)
	b.WriteString(`{"objects":[`)
	return &JSON{w: b, enc: json.NewEncoder(b)}
}

type jsonLife struct {
	Kind        Kind        `json:"kind"`
	Address     Address     `json:"address"`
	Type        string      `json:"type,omitempty"`
	Impl        Address     `json:"impl,omitempty"`
	Interpreter Address     `json:"interpreter,omitempty"`
	Made        string      `json:"made,omitempty"`
	State       string      `json:"state,omitempty"`
	Events      []jsonEvent `json:"events"`
	Dropped     int         `json:"dropped,omitempty"`
}

type jsonEvent struct {
	Line     int64         `json:"line"`
	Event    What          `json:"event"`
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
}

// Life writes one life.
func (j *JSON) Life(l Life) {
	if j.lives++; j.lives > 1 {
		j.w.WriteByte(',')
	}
	out := jsonLife{
		Kind: l.Kind, Address: l.Address, Type: l.Type, Impl: l.Impl, Interpreter: l.Interpreter,
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
		if e.Count >= 0 {
			out.Events[i].UseCount = &e.Count
		}
	}
	j.encode(out)
}

func (j *JSON) encode(v any) {
	if err := j.enc.Encode(v); err != nil && j.err == nil {
		j.err = err
	}
}

// End writes the rest.
func (j *JSON) End(r Report) error {
	j.w.WriteString(`],"violations":`)
	all := make([]jsonViolation, len(r.Violations))
	for i, v := range r.Violations {
		all[i] = jsonViolation{v.Code, v.Line, v.Object, v.Impl, v.Cause, v.Lines(), nil}
		if v.Consequence != 0 {
			all[i].Consequence = &v.Consequence
		}
	}
	j.encode(all)
	j.w.WriteString(`,"unknown":`)
	j.encode(r.Unknown)
	j.w.WriteString("}\n")
	if err := j.w.Flush(); err != nil {
		return err
	}
	return j.err
}
