package asserts

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/usual"
)

// Every row is complete: a planned check is judged, its order is possible, and it has a fix.
func TestRowsAreWhole(t *testing.T) {
	judged := 0
	for c := range AllCodes.All() {
		row := checks[c]
		if row.name == "" || row.rule == "" || row.breaks == "" {
			t.Errorf("%v has no name, rule or breaks", c)
		}
		if row.rule == "..." || row.breaks == "..." {
			t.Errorf("%v %s has no rule, or no breaks: write both, a sentence each, in asserts/check_%s.go", c, row.name, strings.ReplaceAll(row.name, "-", "_"))
		}
		onCall, onMeta := row.judges != nil, row.level == Meta
		if onCall {
			judged++
		}
		if planned := row.plans != nil; planned != (onCall || onMeta) || planned != (row.about != 0) || planned != (row.fixes != nil) || onCall && onMeta {
			t.Errorf("%v: plans, about, fixes and one of judges and the level Meta come together or not at all", c)
		}
		if row.about&Argument != 0 && row.about != Argument {
			t.Errorf("%v is about an argument: it cannot be compared with another subject", c)
		}
	}
	if n := len(judging()); n != judged {
		t.Errorf("%d of %d checks are judged: the others come after each other", n, judged)
	}
}

// A check without usual facts, or with Asked, is judged on every call at its level and above.
func TestUnknownCheckIsNeverUsual(t *testing.T) {
	const code Code = numCodes - 1
	op := &Op{Args: []Subject{{Name: "self", Type: "Tensor"}}, Checks: []Check{{Code: InputImpl, On: 1}, {Code: code, On: 1}}}
	for _, tt := range []struct {
		level           Level
		usual           usual.Facts
		identity, asked bool
	}{
		{Identity, 0, false, true},
		{Identity, usual.SameImpl | usual.Asked, false, true},
		{Identity, usual.SameImpl, true, false},
		{Content, 0, true, true},
		{Content, usual.Asked, true, true},
		{Content, usual.Filled, true, false},
		{Meta, 0, true, false},
	} {
		checks[code] = nil
		add(checkRow{code: code, level: tt.level, about: Argument, usual: tt.usual})
		p, without := newPlan(op), newPlan(&Op{Args: op.Args, Checks: op.Checks[:1]})
		checks[code] = nil
		if without.shape < 0 || without.judgesContents {
			t.Errorf("%v, facts %b: applies to ops that it is not planned for", tt.level, tt.usual)
		}
		if identity := p.shape >= 0; identity != tt.identity || p.judgesContents != tt.asked {
			t.Errorf("%v, facts %b: usual calls: %v, the judge sees all contents: %v", tt.level, tt.usual, identity, p.judgesContents)
		}
	}
}

func TestTwoChecksOfOneCode(t *testing.T) {
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "OA001 is the code of input-impl and of another") {
			t.Errorf("panic %q", said)
		}
	}()
	add(checkRow{code: InputImpl, name: "another"})
}
