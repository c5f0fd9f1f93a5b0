package work

import (
	"reflect"
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// A call that ran, or threw, is not repeated for another case, which has the same result. Different
// calls, and cases of other ops, are made.
func TestOnce(t *testing.T) {
	calls := 0
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		calls++
		switch sizes := first(args).spec.Sizes; {
		case len(sizes) > 1:
			return nil, &engine.Thrown{Message: "want a vector"}
		case sizes[0] == 5:
			return nil, errOurs
		}
		first(args).write()
		return copies(e, args)
	})
	b.e.devices = b.e.devices[:1]
	run := func(text string) (result report.CaseResult, err error) {
		c := b.call(t, text)
		a, err := b.tryOnce(b.t, c, c.Key())
		if err == nil {
			b.runOnce(b.t, a, &result)
		}
		return result, err
	}
	if _, err := run("float32[2, 2]"); err == nil || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	if _, err := run("float32[2, 2]"); err == nil || err.Error() != "want a vector" || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	one, _ := run("float32[4]")
	before := calls
	same, err := run("float32[4]")
	if err != nil || calls != before || !same.Ran || !reflect.DeepEqual(same.Devices, one.Devices) || same.Devices[engine.CPU].Judged[asserts.UndeclaredWrite] == 0 {
		t.Errorf("%d calls instead of %d, %v, %+v", calls, before, err, same)
	}
	if words(same.Found) != "OA009 argument a on cpu" || words(one.Found) != words(same.Found) || slices.Contains(one.Found, same.Found[0]) {
		t.Errorf("found %s, and then %s", words(one.Found), words(same.Found))
	}
	if run("float32[3]"); calls == before {
		t.Error("another call was not made")
	}
	run("float32[5]")
	before = calls
	if _, err := run("float32[5]"); calls == before {
		t.Errorf("a call that failed and did not throw is not made again: %v", err)
	}
}
