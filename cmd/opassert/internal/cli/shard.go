package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/opassert/opassert/asserts/report"
)

// Test runners pass the shard in these variables, counted from 0.
const (
	shardIndex  = "TEST_SHARD_INDEX"
	shardTotal  = "TEST_TOTAL_SHARDS"
	shardStatus = "TEST_SHARD_STATUS_FILE" // created by a test that supports shards
)

func newShardFlag(f *flag.FlagSet) *string {
	return f.String("shard", "", "run one `part` of the ops, such as 2/8 (default: that of $"+shardIndex+" and $"+shardTotal+")")
}

// readShard reads the part from the flag, or else from the environment.
func readShard(text string) (report.Shard, error) {
	if text != "" {
		index, of, _ := strings.Cut(text, "/")
		s := report.Shard{Index: number(index), Of: number(of)}
		if !s.Valid() {
			return s, usagef("-shard %s: want a part such as 2/8, from 1/8 to 8/8", text)
		}
		return s, nil
	}
	total := os.Getenv(shardTotal)
	if total == "" {
		return report.Shard{}, nil
	}
	s := report.Shard{Index: number(os.Getenv(shardIndex)) + 1, Of: number(total)}
	if !s.Valid() {
		return s, fmt.Errorf("%s=%s and %s=%s: want an index from 0 up to one less than the total",
			shardIndex, os.Getenv(shardIndex), shardTotal, total)
	}
	if file := os.Getenv(shardStatus); file != "" {
		return s, os.WriteFile(file, nil, 0o666)
	}
	return s, nil
}
