package design

import (
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// A device argument has each of the engine's devices.
func TestDeviceValuesAreTheEngines(t *testing.T) {
	op := must.Get(schema.ParseOp("f(Device device, Device? to=None) -> Tensor"))(t)
	base := &sample.Case{Op: "aten::f", Args: []sample.Value{{Kind: sample.DeviceValue, Text: "cpu"}, sample.None()}}
	d := NewDesign(engine.Operator{Schema: op}, []engine.Device{engine.CPU, engine.Meta, "lpu"}, 0, &Learned{Ran: []*sample.Case{base}})
	for _, arg := range []string{"device", "to"} {
		for _, device := range []string{"meta", "lpu"} {
			if !slices.ContainsFunc(d.Classes, func(c argClass) bool { return c.arg == arg && strings.Contains(c.name, device) }) {
				t.Errorf("no case has %s on %s", arg, device)
			}
		}
	}
}
