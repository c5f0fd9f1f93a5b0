package upper

import "github.com/opassert/opassert/internal/dev/references/testdata/lower"

const limit = 1

type B struct{ lower.C }

func (b *B) up() *A { return nil }

func (b *B) size() int { return b.Size() }
