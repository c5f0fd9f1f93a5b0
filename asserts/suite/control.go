package suite

import (
	"context"
	"fmt"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A control is an additional worker of a run. It repeats one call of each op, as the first call of that op
// in its process. If the result differs from the one after the cases, new processes show whether
// it depends on the values of an earlier call.
type control struct {
	sync.Mutex
	supervisor
}

// agreeing is the number of processes in which a call must return the same bytes after itself, and other
// bytes after a call with other values: results may also depend on the process, or on chance.
const agreeing = 3

// unexplained is the skip of a result that depends on something else.
var unexplained = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: "a call returns something else in a process that has not run the op, but not because of the values of the previous call",
}

// unshared is the skip of an op of which no call could be repeated in another process.
var unshared = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: "no call was repeated in a process that has not run the op: none had default floating-point values and a result that follows them alone",
}

// uncompared returns the skip on the device whose contents were judged, if there is one.
func uncompared(devices report.Devices) report.Devices {
	for _, on := range devices.Names() {
		if devices[on].Judged[asserts.UndeclaredWrite] > 0 {
			return report.Devices{on: {Skips: []asserts.Skip{unshared}}}
		}
	}
	return nil
}

// compare repeats encoded calls in a process that has not run the op, and compares the results.
func (c *control) compare(ctx context.Context, o engine.Operator, calls string, res *report.OpResult) error {
	c.Lock()
	defer c.Unlock()
	c.begin(o)
	made, err := decode[work.Calls](calls)
	if err != nil { //mutate:equivalent false: a worker encoded them
		return err
	}
	turn := made.Turns[0]
	first, err := c.call(ctx, made, res, turn)
	if err == nil && len(first.Found) > 0 {
		on := first.Found[0].Devices[0]
		if first.Found, err = c.followed(ctx, made, res, turn); len(first.Found) == 0 {
			first.Devices.Add(report.Devices{on: {Skips: []asserts.Skip{unexplained}}})
		}
	}
	res.Add(first)
	return err
}

// followed returns the findings of a call whose result depends on the values of the previous call.
func (c *control) followed(ctx context.Context, made *work.Calls, res *report.OpResult, turn int) ([]*report.Finding, error) {
	var found []*report.Finding
	made.Last.Seen = nil
	for range agreeing {
		c.renew()
		if like, err := c.call(ctx, made, res, 0, 0); err != nil || len(like.Found) > 0 {
			return nil, err
		}
		c.renew()
		other, err := c.call(ctx, made, res, turn, 0)
		if err != nil || len(other.Found) == 0 {
			return nil, err
		}
		found = other.Found
	}
	return found, nil
}

// call makes calls of a case and compares the last one with the earlier observation, if there is one;
// otherwise it becomes that.
func (c *control) call(ctx context.Context, made *work.Calls, res *report.OpResult, turns ...int) (*report.CaseResult, error) {
	made.Turns = turns
	text, err := encode(made)
	if err != nil { //mutate:equivalent false: calls are encoded without an error
		return nil, err
	}
	number, shown := made.Case.Number, &report.CaseResult{Idle: true}
	q := request{Op: made.Case.Op, From: number, To: number + 1, Apart: text}
	crash, err := c.askTwice(ctx, q, c.run.longest(), func(r *report.CaseResult) { shown = r })
	if err != nil {
		return shown, err
	}
	if crash != nil {
		res.Unfinish(fmt.Sprintf("it ended a process that had not run the op: %s", crash.Cause))
		return shown, nil
	}
	if made.Last.Seen == nil {
		answer, err := decode[work.Calls](c.known.apart)
		if err != nil {
			return shown, err
		}
		made.Last = answer.Last
	}
	return shown, nil
}
