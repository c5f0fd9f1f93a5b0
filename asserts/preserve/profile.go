package preserve

import (
	"runtime/pprof"
	"sync/atomic"
)

// handles is the profile of handles made and not yet released or collected.
var handles = pprof.NewProfile("opassert_handles")

var profiling atomic.Bool

// Profile adds the handles made from now on, of every registry, to the profile "opassert_handles",
// which [pprof.Lookup] finds and net/http/pprof serves. It takes about a microsecond per handle.
func Profile() { profiling.Store(true) }

// A profiled is a handle in the profile.
type profiled struct {
	registry *Registry
	token    Token
}

func (t Token) of(r *Registry) profiled { return profiled{r, t} }
