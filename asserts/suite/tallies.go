package suite

import (
	"encoding/json"
	"fmt"

	"github.com/opassert/opassert/asserts/suite/report"
)

// An answer is about a case. Most cases of an op tally the same, and tallies are most of an
// answer: it names an earlier case whose tallies it shares.
type answer struct {
	*report.Case
	Like *int `json:"like,omitempty"`
}

// tallied holds the tallies of the cases of a request, each once.
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

// readAnswer reads an answer; had are the tallies of those before it, by their cases.
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
		return nil, fmt.Errorf("case %d is like case %d, of which there was no answer", a.Case.Case, *a.Like)
	}
	a.Devices = devices
	return a.Case, nil
}
