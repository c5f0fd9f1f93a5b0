// Package upper has files that refer to each other.
package upper

import "github.com/opassert/opassert/internal/dev/references/testdata/lower"

type A struct{ next *B }

func (a *A) all() (n int) {
	for ; a != nil; a = a.next.up() {
		n += limit + lower.Limit + limit
	}
	return n
}
