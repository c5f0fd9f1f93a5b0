package report

import "github.com/opassert/opassert/asserts/suite/engine"

// A Shard is a part of the ops: every Of'th, from number Index on, counting from 1. The zero Shard is all ops.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
	Ops   int `json:"ops"` // of all shards together
}

// Valid reports whether the shard exists.
func (s Shard) Valid() bool { return s.Index >= 1 && s.Index <= s.Of }

// Take returns the shard's part of the ops.
func (s Shard) Take(all []engine.Operator) []engine.Operator {
	if s.Of == 0 {
		return all
	}
	var part []engine.Operator
	for i := s.Index - 1; i < len(all); i += s.Of {
		part = append(part, all[i])
	}
	return part
}
