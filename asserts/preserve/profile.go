package preserve

import (
	"runtime/pprof"
	"sync/atomic"
)

// handles is the profile of handles made and not yet released or collected.
var handles = pprof.NewProfile("opassert_handles")

var profiling atomic.Bool

// Profile adds the handles made from now on, of every registry, to the profile
// "opassert_handles", as [pprof.Lookup] finds it and net/http/pprof serves it.
// It costs about a microsecond a handle.
func Profile() { profiling.Store(true) }

// A profiled is a handle as the profile knows it.
type profiled struct {
	registry *Registry
	token    Token
}

func (t Token) of(r *Registry) profiled { return profiled{r, t} }
