package suite

import (
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts/report"
)

// A reply is the result of a case. Most results of an op have tallies that another one had, and refer to it.
type reply struct {
	*report.CaseResult
	Like uint `json:"like,omitempty"` // the number of equal tallies among those of the request that were sent, from 1
}

// mostTallies is the number of tallies that are kept for later results of a request.
const mostTallies = 64

// tallies are those that were sent in answer to a request, each of a case that is over: until then they change.
type tallies []report.Devices

func equal(a, b report.Tally) bool {
	return a.Judged == b.Judged && slices.Equal(a.Skips, b.Skips) && maps.Equal(a.Uncalled, b.Uncalled)
}

// reply returns a reply without tallies that were sent.
func (sent *tallies) reply(c *report.CaseResult) reply {
	i := slices.IndexFunc(*sent, func(d report.Devices) bool { return maps.EqualFunc(d, c.Devices, equal) })
	if i < 0 {
		sent.add(c.Devices)
		return reply{CaseResult: c}
	}
	like := *c
	like.Devices = nil
	return reply{&like, uint(1 + i)}
}

// restore gives a result the tallies to which it refers, and reports whether they were sent.
func (sent *tallies) restore(r reply) bool {
	if r.Like == 0 {
		sent.add(r.Devices)
		return true
	}
	if r.Like > uint(len(*sent)) {
		return false
	}
	r.Devices = (*sent)[r.Like-1]
	return true
}

func (sent *tallies) add(d report.Devices) {
	if len(*sent) < mostTallies {
		*sent = append(*sent, d)
	}
}
