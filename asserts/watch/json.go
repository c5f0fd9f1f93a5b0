package watch

import (
	"encoding/json"
	"io"
)

// A shown finding is a finding as -json writes it.
type shown struct {
	Code    string  `json:"code"`
	Op      string  `json:"op"`
	Subject string  `json:"subject"`
	Saw     string  `json:"saw"`
	Count   int     `json:"count"`
	Pids    []int   `json:"pids"`
	Rank    string  `json:"rank,omitempty"`
	Known   bool    `json:"known,omitempty"` // a baseline has it
	Note    string  `json:"note,omitempty"`  // why it is debatable, and no error
	Site    []Frame `json:"site"`            // the user's frames, outermost first
}

// WriteJSON writes the findings as an array, and more after them.
func (r *Report) WriteJSON(w io.Writer, more ...any) error {
	all := []any{}
	for _, f := range r.Findings {
		site := f.Site
		if site == nil {
			site = []Frame{}
		}
		all = append(all, shown{f.Code.String(), f.Op, f.Subject.String(), f.Saw, f.Count, f.Pids, f.Rank, f.Known, f.Note, site})
	}
	all = append(all, more...)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(all)
}
