package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/schema"
)

// operators are of these names; of one with an exclamation mark nothing is called.
func operators(names ...string) (ops []engine.Operator) {
	for _, name := range names {
		o := engine.Operator{Schema: &schema.Op{Namespace: "my"}}
		o.Schema.Func.Name.Base = strings.TrimSuffix(name, "!")
		if strings.HasSuffix(name, "!") {
			o.Missing = "no kernel"
		}
		ops = append(ops, o)
	}
	return ops
}

// Elsewhere than on a terminal there is a line each half minute, while an op takes its
// time too.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		inv := &invocation{stderr: &out}
		p := startProgress(inv, operators("known", "missing!", "quick", "slow", "last"), map[string]*report.OpResult{"my::known": {}})
		p.opDone(&report.OpResult{Op: "my::known", Cases: 7})
		p.opDone(&report.OpResult{Op: "my::missing"})
		p.opStarted("my::quick")
		p.opStarted("my::slow")
		time.Sleep(20 * time.Second)
		p.opDone(&report.OpResult{Op: "my::quick", Cases: 3})
		p.opStarted("my::last\n")
		time.Sleep(55 * time.Second)
		p.opDone(&report.OpResult{Op: "my::slow"})
		time.Sleep(20 * time.Second)
		p.end()
		time.Sleep(time.Hour)
		want := `
opassert: 3 of 5 ops in 30s, 10 cases, 0 findings, about 1m0s left: my::slow
opassert: 3 of 5 ops in 1m0s, 10 cases, 0 findings, about 2m0s left: my::slow
opassert: 4 of 5 ops in 1m30s, 10 cases, 0 findings, about 45s left: my::last\n
`
		if diff := cmp.Diff(want[1:], out.String()); diff != "" {
			t.Error(diff)
		}
	})
}
