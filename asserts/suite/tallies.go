package suite

import (
	"encoding/json"
	"fmt"

	"github.com/opassert/opassert/asserts/report"
)

// A caseAnswer is the result of a case. Most cases of an op have equal tallies, which are most of an
// answer: it refers to an earlier case with the same ones.
type caseAnswer struct {
	*report.CaseResult
	Like *int `json:"like,omitempty"`
}

// tallied holds the different tallies of the cases of a request.
type tallied []struct {
	number  int
	devices report.Devices
}

func (t *tallied) answer(result *report.CaseResult) caseAnswer {
	for i := range *t {
		if had := &(*t)[i]; had.devices.Equal(result.Devices) {
			short := *result
			short.Devices = nil
			return caseAnswer{&short, &had.number}
		}
	}
	*t = append(*t, struct {
		number  int
		devices report.Devices
	}{result.Case, result.Devices})
	return caseAnswer{CaseResult: result}
}

// readAnswer parses an answer; had are the earlier tallies, by case.
func readAnswer(text []byte, had map[int]report.Devices) (*report.CaseResult, error) {
	a := caseAnswer{CaseResult: new(report.CaseResult)}
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if a.Like == nil {
		had[a.CaseResult.Case] = a.Devices
		return a.CaseResult, nil
	}
	devices, ok := had[*a.Like]
	if !ok {
		return nil, fmt.Errorf("case %d refers to case %d, which has no answer", a.CaseResult.Case, *a.Like)
	}
	a.Devices = devices
	return a.CaseResult, nil
}
