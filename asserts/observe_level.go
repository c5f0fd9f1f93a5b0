package asserts

import "fmt"

// A Level tells how much of a tensor is observed. Each includes the one before.
type Level uint8

const (
	Off      Level = iota
	Identity       // pointers and counts
	Content        // bytes and metadata as well
	Meta           // the same call on the meta device
)

// levels spells the levels as OPASSERT does.
var levels = [...]string{Off: "off", Identity: "identity", Content: "content", Meta: "meta"}

func (l Level) String() string {
	if int(l) < len(levels) {
		return levels[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}
