package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// Devices reports the returns on another device than all arguments. Where the op's fake returns
// something, Fakes compares the devices instead. devices are those that arguments name.
func Devices(op *asserts.Op, real *asserts.Seen, fake *Fake, devices []string, policy *asserts.Policy) asserts.Verdict {
	c := newCall(op, real, policy)
	if given := c.device(devices); given != "" && (fake == nil || len(fake.Seen.Results) == 0) {
		for _, out := range c.returns {
			is := out.after.Content
			there := is == nil || is.Device == given || slices.ContainsFunc(devices, names(is.Device))
			if there || !c.planned(out.of) || c.passesOver(&out.after) {
				continue
			}
			v := c.reportSide(out)
			v.Saw = fmt.Sprintf("it is on %s, and every argument on %s", is.Device, given)
			v.Symptom = "other-device"
		}
	}
	return c.conclude()
}

// device returns the device of all arguments. It is "" if they are on several, if one names another
// device, or if one that could name a device does not.
func (c *call) device(devices []string) (device string) {
	if len(devices) == 0 && strings.Contains(c.op.Schema, "Device") {
		return ""
	}
	for _, in := range c.arguments {
		switch c := in.before.Content; {
		case c == nil:
		case device != "" && c.Device != device:
			return ""
		default:
			device = c.Device
		}
	}
	if len(devices) > 0 && !slices.ContainsFunc(devices, names(device)) {
		return ""
	}
	return device
}

// names returns a function that reports whether a name is the device's, or its type's: the current device.
func names(device string) func(name string) bool {
	return func(name string) bool { return device == name || strings.HasPrefix(device, name+":") }
}
