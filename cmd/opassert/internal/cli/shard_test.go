package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/must"
)

// A shard is that of the flag, or else that of the test runner, which is notified.
func TestReadShard(t *testing.T) {
	inFolder(t)
	for _, tt := range []struct {
		flag, index, total string
		want               report.Shard
		err                string
	}{
		{"", "", "", report.Shard{}, ""},
		{"2/8", "", "", report.Shard{Index: 2, Of: 8}, ""},
		{"2/8", "0", "3", report.Shard{Index: 2, Of: 8}, ""},
		{"", "0", "3", report.Shard{Index: 1, Of: 3}, ""},
		{"", "3", "3", report.Shard{}, "TEST_SHARD_INDEX=3 and TEST_TOTAL_SHARDS=3"},
		{"", "", "3", report.Shard{}, "want an index from 0"},
		{"", "0", "x", report.Shard{}, "want an index from 0"},
		{"0/8", "", "", report.Shard{}, "want a part such as 2/8"},
		{"9/8", "", "", report.Shard{}, "want a part such as 2/8"},
		{"2", "", "", report.Shard{}, "want a part such as 2/8"},
		{"+2/8", "", "", report.Shard{}, "want a part such as 2/8"},
	} {
		t.Setenv(shardIndex, tt.index)
		t.Setenv(shardTotal, tt.total)
		t.Setenv(shardStatus, "read")
		os.Remove("read")
		got, err := readShard(tt.flag)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || err == nil && got != tt.want {
			t.Errorf("%+v: %+v, %v", tt, got, err)
		}
		if _, err := os.Stat("read"); (err == nil) != (tt.flag == "" && tt.want.Of > 0) {
			t.Errorf("%+v: the runner is notified: %v", tt, err == nil)
		}
	}
	t.Setenv(shardIndex, "0")
	t.Setenv(shardTotal, "3")
	t.Setenv(shardStatus, "none/read")
	if _, err := readShard(""); err == nil {
		t.Error("the runner was not notified")
	}
	t.Setenv(shardStatus, "")
	must.Get(readShard(""))(t)
}
