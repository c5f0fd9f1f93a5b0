package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opassert/opassert/asserts"
)

// The history of a finding names the first version that has it, the last one before
// that has not, and the first one that has it no more; what was not judged shows
// neither.
func TestHistories(t *testing.T) {
	const found, holds, unjudged, absent = "found", "holds", "not judged", "no op"
	for _, tt := range []struct {
		stands []string
		want   string
	}{
		{[]string{found, found}, "in lib 1, the first one compared"},
		{[]string{holds, found}, "since lib 2, not in lib 1"},
		{[]string{holds, holds, found}, "since lib 3, not in lib 2"},
		{[]string{holds, unjudged, found}, "since lib 3, not in lib 1"},
		{[]string{unjudged, found}, "in lib 2; not judged before"},
		{[]string{absent, found}, "in lib 2, the first one that has the op"},
		{[]string{found, holds}, "in lib 1, the first one compared; mended in lib 2"},
		{[]string{holds, found, holds, holds}, "since lib 2, not in lib 1; mended in lib 3"},
		{[]string{found, holds, found}, "in lib 1, the first one compared"},
		{[]string{found, unjudged, holds}, "in lib 1, the first one compared; mended in lib 3"},
		{[]string{found, absent, unjudged}, "in lib 1, the first one compared"},
	} {
		var c Comparison
		for i, s := range tt.stands {
			op := ran("x")
			switch s {
			case found:
				op = ran("x", finds(asserts.InputImpl, 0, "self", "bad"))
			case unjudged:
				op.Devices = nil
			}
			version := string(rune('1' + i))
			if s == absent {
				c.Reports = append(c.Reports, compared(version))
				continue
			}
			c.Reports = append(c.Reports, compared(version, op))
		}
		all := c.histories()
		if len(all) != 1 {
			t.Fatalf("%v: %d histories", tt.stands, len(all))
		}
		var stands []string
		for _, s := range all[0].Stands {
			stands = append(stands, string(s))
		}
		if diff := cmp.Diff(tt.stands, stands); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if got := all[0].words(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.stands, got, tt.want)
		}
	}
}
