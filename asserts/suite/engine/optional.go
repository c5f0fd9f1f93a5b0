package engine

import (
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
)

// What an [Engine] may do besides: a run asks it, by a type assertion, and leaves out what it cannot do.

// A FakeCaller has ops with fakes.
type FakeCaller interface {
	// NoFake returns why no fake of an op can be called, or "".
	NoFake(op *asserts.Op) string
	// Fake calls the fake of an op that has one, or returns why it can't.
	Fake(op *asserts.Op, args []any) (*compare.Fake, string)
}

// A RuleCaller calls the rules registered for an op besides its kernels.
type RuleCaller interface {
	// HasRules reports whether it does for an op.
	HasRules(op *asserts.Op) bool
	// Rules calls the op's formula for autograd and its rules for vmap and autocast,
	// and returns their faults, or why they can't be called.
	Rules(op *asserts.Op, args []any) ([]asserts.Fault, string)
}

// A CopyTracker tracks the copies that kernels make of arguments.
type CopyTracker interface {
	// Traces reports whether it does.
	Traces() bool
	// LostWrites calls an op's kernel and returns the arguments of which it writes copies that are never read, and where.
	LostWrites(op *asserts.Op, args []any) map[string]asserts.Site
}

// A StateSaver restores, between calls, the state that it saved, which includes the folder.
type StateSaver interface{ SaveState() error }

// A StateRestorer observes the state that calls change besides tensors.
type StateRestorer interface {
	// RestoreState returns the changes since its last call, and undoes them.
	RestoreState() []asserts.Fault
	// OtherSettings sets some of it to values that no kernel is likely to choose, or to those from before.
	OtherSettings(other bool) error
}

// An ArgumentKeeper has kernels that may keep an argument, and write it later.
type ArgumentKeeper interface{ KeepsArguments() }

// A Writer writes tensors as a program does that uses the library.
type Writer interface {
	// Write copies the elements of a tensor to another one of the same layout, and reports whether it could.
	Write(to, from Tensor) bool
}

// A Limited engine knows errors of its ops that no arguments avoid.
type Limited interface {
	// Unavailable returns the reason why no arguments avoid an error, or "" if some may.
	Unavailable(op, text string) string
}

// A Hosted engine may have its kernels in another process.
type Hosted interface {
	// Server returns the process of the kernels, 0 for this one: Python's loop over elements, and
	// the ops of PyTorch that they call are not divided.
	Server() int
}

// A Threaded engine has ops that divide their work among threads.
type Threaded interface {
	Hosted
	// Threads sets the number of threads, except for ops that others call, which use one.
	Threads(count int)
	// CPUTime returns the processor time of the process of the kernels.
	CPUTime() time.Duration
}

// A MemoryWatcher records how kernels access memory.
type MemoryWatcher interface {
	// Watched reports whether it does.
	Watched() bool
	// Arrange sets the position of new tensors, directly after a page without access or before one,
	// whether arguments are aligned for vectors, and the contents of their memory until it is written.
	Arrange(ahead, aligned bool, fill byte)
	// Reuse places the same new tensors at the same addresses, once those before are gone, aligned
	// and in memory with contents as with Arrange, until the next Arrange.
	Reuse(aligned bool, fill byte)
	// MemoryFaults returns the memory faults of the last call of an op, and why the memory of some
	// storage since Arrange is not watched, and why it is not filled, or "".
	MemoryFaults(op *asserts.Op) (faults []asserts.Fault, unwatched, unfilled string)
}

// A Loader has loaded libraries.
type Loader interface {
	// Unloaded returns those that it could not load.
	Unloaded() []*LoadError
	// Files returns the files from which the kernels and what they call were loaded.
	Files() []string
}

// A LoadError is the error of a library that could not be loaded, or at which a worker ended or did not continue.
type LoadError struct{ Library, Why string }

func (e *LoadError) Error() string { return "load " + e.Library + ": " + e.Why }
