package suite

import (
	"encoding/json"
	"fmt"

	"github.com/opassert/opassert/asserts/suite/report"
)

// An answer is the result of a case. Most cases of an op have equal tallies, which are most of an
// answer: it refers to an earlier case with the same ones.
type answer struct {
	*report.Case
	Like *int `json:"like,omitempty"`
}

// tallied holds the different tallies of the cases of a request.
type tallied []struct {
	number  int
	devices report.Devices
}

func (t *tallied) answer(result *report.Case) answer {
	for i := range *t {
		if had := &(*t)[i]; had.devices.Equal(result.Devices) {
			short := *result
			short.Devices = nil
			return answer{&short, &had.number}
		}
	}
	*t = append(*t, struct {
		number  int
		devices report.Devices
	}{result.Case, result.Devices})
	return answer{Case: result}
}

// readAnswer parses an answer; had are the earlier tallies, by case.
func readAnswer(text []byte, had map[int]report.Devices) (*report.Case, error) {
	a := answer{Case: new(report.Case)}
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if a.Like == nil {
		had[a.Case.Case] = a.Devices
		return a.Case, nil
	}
	devices, ok := had[*a.Like]
	if !ok {
		return nil, fmt.Errorf("case %d refers to case %d, which has no answer", a.Case.Case, *a.Like)
	}
	a.Devices = devices
	return a.Case, nil
}
