package main

import "fmt"

// A share selects the conditions to break: each n-th, beginning with the k-th.
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

func (s share) holds(id int) bool { return id%s.n == s.k-1 }
