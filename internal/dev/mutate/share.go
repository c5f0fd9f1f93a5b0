package main

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
)

// A share selects the conditions to break: the k-th of n parts.
type share struct{ k, n int }

// String returns the text that Set reads: "2/5".
func (s *share) String() string { return fmt.Sprintf("%d/%d", s.k, s.n) }

// Set implements [flag.Value].
func (s *share) Set(text string) error {
	var k, n int
	if _, err := fmt.Sscanf(text+" ", "%d/%d ", &k, &n); err != nil || k < 1 || k > n {
		return fmt.Errorf("want K/N, with K from 1 to N")
	}
	*s = share{k, n}
	return nil
}

// holds reports whether c is in the part. Its file's name and its text decide that, so a change of one
// condition leaves the others where they are.
func (s share) holds(c condition) bool {
	hash := fnv.New32a()
	fmt.Fprint(hash, filepath.Base(c.file), c.text)
	return hash.Sum32()%uint32(s.n) == uint32(s.k-1)
}
