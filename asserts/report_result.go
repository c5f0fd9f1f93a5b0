package asserts

import "time"

// A Result is one line of the report of a run: of a program under OPASSERT=collect, a test, a suite over a library.
type Result struct {
	Op      string `json:"op,omitempty"`      // "" for a result that concerns no op
	Code    Code   `json:"code,omitempty"`    // 0: about the op as a whole
	Subject string `json:"subject,omitempty"` // "argument tensors[1]"
	Status  Status `json:"status"`
	Case    string `json:"case,omitempty"` // of the op, if a suite made several
	Device  string `json:"device,omitempty"`
	DType   string `json:"dtype,omitempty"`
	Count   int    `json:"count,omitempty"`   // how often
	Reason  string `json:"reason,omitempty"`  // why it was skipped, or the cause of the crash
	Symptom string `json:"symptom,omitempty"` // of a violation, as an allowlist names it: "OA021/threads"
	Saw     string `json:"saw,omitempty"`     // what was seen
	Fix     string `json:"fix,omitempty"`     // the change to make
	Call    string `json:"call,omitempty"`    // the smallest call that shows it
	Text    string `json:"text,omitempty"`    // a line that says the finding, and then as a person reads it
	Report  string `json:"report,omitempty"`  // all that is known of it, as lines
	Site    Site   `json:"site,omitzero"`
	Program string `json:"program,omitempty"` // the file of a program that reproduces it without opassert

	Took time.Duration `json:"-"` // differs between runs
}

// A Status is the outcome of a check.
type Status string

const (
	Violated Status = "violated"
	Noted    Status = "noted" // violated, but debatable: not an error
	Passed   Status = "passed"
	Skipped  Status = "skipped"
	Crashed  Status = "crashed" // the kernel crashed its process
	Known    Status = "known"   // violated or crashed, and listed in the baseline
	Failed   Status = "failed"  // the kernel returned an error, so no call was judged
)

// Result returns the violation as a result.
func (v *Violation) Result() Result {
	status := Violated
	if v.Note != "" {
		status = Noted
	}
	return Result{
		Op: v.Op, Code: v.Code, Subject: v.Subject.String(), Status: status, Reason: v.Note,
		Device: v.Device, DType: v.DType, Count: 1, Report: v.Error(), Site: v.Site,
		Symptom: v.Symptom.Of(v.Code), Saw: v.Saw, Fix: v.Fix, Text: v.Symptom.Of(v.Code) + " " + v.name() +
			": " + v.Sentence(),
	}
}

// Results returns the violations, and then the skips.
func (s Summary) Results() []Result {
	var results []Result
	for _, f := range s.Found {
		r := f.Result()
		r.Count = f.Count
		results = append(results, r)
	}
	for _, skip := range s.Skips {
		results = append(results, Result{Code: skip.Code, Status: Skipped, Count: skip.Count, Reason: skip.Reason})
	}
	return results
}
