package cli

import (
	"testing"

	"github.com/opassert/opassert/asserts/report"
)

// A shard is one of a number of parts.
func TestShardFlag(t *testing.T) {
	for text, want := range map[string]report.Shard{"2/8": {Index: 2, Of: 8}, "1/1": {Index: 1, Of: 1}, "0/8": {}, "9/8": {}, "2": {}, "+2/8": {}, "2/x": {}} {
		var got report.Shard
		err := setShard(&got, text)
		if (err == nil) != (want.Of > 0) || err == nil && got != want {
			t.Errorf("-shard %s: %+v, %v", text, got, err)
		}
	}
}
