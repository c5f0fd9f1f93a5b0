package suite

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

func TestWriteExplained(t *testing.T) {
	var operators []engine.Operator
	for _, text := range []string{
		"aten::add.Tensor(Tensor self) -> Tensor", "aten::never(Tensor self) -> Tensor", "aten::died(Tensor self) -> Tensor",
		"ns::queue(__torch__.torch.classes.ns.Queue q, int n) -> ()",
		"ns::make_queue(int n) -> __torch__.torch.classes.ns.Queue",
	} {
		operators = append(operators, engine.Operator{Schema: must.Get(schema.ParseDispatcher(text))(t)})
	}
	r := &report.Report{Ops: []*report.OpResult{
		{Op: "aten::add.Tensor", Cases: 5, Ran: 4},
		{Op: "aten::died", Cases: 1, Crashes: []report.Crash{{Cause: "SIGILL"}}},
		{Op: "aten::elsewhere", Cases: 5},
		{Op: "aten::never", Schema: "never(Tensor self) -> Tensor", Cases: 9, Error: "not\ntoday", Closest: `{self: "t[2]"}`,
			Said: map[string]int{"a": 1, "b": 3, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}},
		{Op: "ns::queue", Schema: "queue(__torch__.torch.classes.ns.Queue q) -> ()", Missing: "no way to make a Queue"},
	}}
	var b strings.Builder
	must.Do(t, WriteExplained(&b, r, operators))
	golden.Compare(t, "explained.yaml", b.String())
}
