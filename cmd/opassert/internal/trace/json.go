package trace

import (
	"encoding/json"
	"io"
)

// WriteJSON writes one object:
//
//	{"violations":[{"code","line","object","impl","cause",
//	"evidence":[lines],"consequence":line,"root":line,"process","type","saw",
//	"breaks","fix","inferred","proof","reasons":[{"line","says"}],"found",
//	"tensor"}],"warnings":[...],"unknown":N,"replaced":N,"records":N,"lines":N}
//
// where a line is the number in the log itself. The consequence is null if the log shows none. A violation with a root
// follows from the violation at that line.
func (r *LogReport) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// MarshalJSON adds what follows from the fields.
func (v InvariantViolation) MarshalJSON() ([]byte, error) {
	type fields InvariantViolation
	out := struct {
		fields
		Evidence    []int64  `json:"evidence"`
		Consequence *int64   `json:"consequence"`
		Saw         string   `json:"saw"`
		Breaks      string   `json:"breaks"`
		Fix         string   `json:"fix"`
		Reasons     []Reason `json:"reasons"`
	}{fields(v), v.Lines(), nil, v.Saw(), v.Code.Breaks(), v.Code.Fix(), append([]Reason{}, v.Evidence...)} // never null
	if v.Consequence != 0 {
		out.Consequence = &v.Consequence
	}
	return json.Marshal(out)
}
