package suite

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// Equal tallies are sent once, and read for each of their cases.
func TestAnswersShareTallies(t *testing.T) {
	tally := func(skips int, uncalled string) report.Devices {
		return report.Devices{engine.CPU: {
			Judged:   asserts.Counts{asserts.MetaAlias: 1},
			Skips:    []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: "r", Count: skips}},
			Uncalled: map[string]int{uncalled: 1},
		}}
	}
	var said tallied
	had := make(map[int]report.Devices)
	for i, tt := range []struct {
		devices report.Devices
		like    string
	}{
		{tally(1, "a"), ""},
		{tally(2, "a"), ""},
		{tally(1, "a"), `"like":0`},
		{tally(1, "b"), ""},
		{nil, ""},
		{tally(2, "a"), `"like":1`},
		{nil, `"like":4`},
	} {
		text := must.Get(json.Marshal(said.answer(&report.CaseResult{Case: i, Devices: tt.devices, Ran: true})))(t)
		if strings.Contains(string(text), `"like"`) != (tt.like != "") || !strings.Contains(string(text), tt.like) {
			t.Errorf("case %d: %s, want %q", i, text, tt.like)
		}
		c := must.Get(readAnswer(text, had))(t)
		if !c.Devices.Equal(tt.devices) || c.Case != i || !c.Ran {
			t.Errorf("case %d: read %+v from %s", i, c, text)
		}
	}
	if c, err := readAnswer([]byte(`{"case":9,"like":8}`), had); err == nil {
		t.Errorf("an answer like none: %+v", c)
	}
}
