// Package lower has one file.
package lower

const Limit = 1

type C struct{}

func (*C) Size() int { return size() }

func size() int { return Limit }
