package asserts

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/usual"
)

// Every row is whole: what plans a check also judges it, in an order that
// exists, and says what to change.
func TestRowsAreWhole(t *testing.T) {
	judged := 0
	for c := range AllCodes.All() {
		row := checks[c]
		if row.name == "" || row.rule == "" || row.breaks == "" {
			t.Errorf("%v has no name, no rule or does not say what it breaks", c)
		}
		if row.rule == "..." || row.breaks == "..." {
			t.Errorf("%v %s has no rule, or does not say what it breaks: write both, a sentence each, in asserts/check_%s.go", c, row.name, strings.ReplaceAll(row.name, "-", "_"))
		}
		onCall, onMeta := row.judges != nil, row.compares != nil
		if onCall {
			judged++
		}
		if planned := row.plans != nil; planned != (onCall || onMeta) || planned != (row.about != 0) || planned != (row.fixes != nil) || onCall && onMeta {
			t.Errorf("%v: plans, about, fixes and one of judges and compares come together or not at all", c)
		}
		if row.about&Argument != 0 && row.about != Argument {
			t.Errorf("%v is about an argument: it is held against nobody", c)
		}
	}
	if n := len(judging()); n != judged {
		t.Errorf("%d of %d checks are judged: the others come after each other", n, judged)
	}
}

// A check whose row says nothing of usual calls, or that each is to be asked of, goes
// through the judge at its level and above.
func TestUnknownCheckTakesNoShortcut(t *testing.T) {
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
		add(check{code: code, level: tt.level, about: Argument, usual: tt.usual})
		p, without := newPlan(op), newPlan(&Op{Args: op.Args, Checks: op.Checks[:1]})
		checks[code] = nil
		if without.shape < 0 || without.asks {
			t.Errorf("%v, facts %b: asked of ops that it is not planned for", tt.level, tt.usual)
		}
		if identity := p.shape >= 0; identity != tt.identity || p.asks != tt.asked {
			t.Errorf("%v, facts %b: the shortcut is taken: %v, contents are asked of: %v", tt.level, tt.usual, identity, p.asks)
		}
	}
}

func TestTwoChecksOfOneCode(t *testing.T) {
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "OA001 is the code of input-impl and of another") {
			t.Errorf("panic %q", said)
		}
	}()
	add(check{code: InputImpl, name: "another"})
}
