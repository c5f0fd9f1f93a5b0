package preserve_test

import (
	"fmt"

	"github.com/opassert/opassert/asserts/preserve"
)

// An object whose last reference is released while its impl is shared is preserved, and resurrected
// when it is used again; deallocating it instead breaks an invariant.
func ExampleProtocol_Next() {
	protocol := preserve.ProtocolOf("2.6.0+cu124")
	state := preserve.Unknown
	for _, step := range []preserve.Step{preserve.Create, preserve.Preserve, preserve.Resurrect, preserve.Preserve, preserve.Deallocate} {
		next, broken := protocol.Next(state, step)
		fmt.Printf("%v: %v to %v\n", step, state, next)
		if state = next; broken != 0 {
			fmt.Printf("%v %s: %s\n", broken, broken.Name(), broken.Rule())
		}
	}
	// Output:
	// create: unknown to holding
	// preserve: holding to preserved
	// resurrect: preserved to holding
	// preserve: holding to preserved
	// deallocate: preserved to dead
	// OA102 shared-dealloc: an object is not deallocated while its slot points at it and others hold the impl
}

// files tracks the handles of a library, as a variable of its package.
var files = preserve.NewRegistry("example.File")

// A File is a handle that must be closed.
type File struct{ token preserve.Token }

func Open() *File            { return &File{files.Made(64)} }
func (f *File) Close() error { return files.Release(f.token) }

// A testingT is a test's argument; here it prints.
type testingT struct{ cleanups []func() }

func (*testingT) Helper()            {}
func (*testingT) Log(...any)         {}
func (*testingT) Error(what ...any)  { fmt.Println(what...) }
func (t *testingT) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

func ExampleCheckLeaks() {
	t := new(testingT) // in a test: t *testing.T
	preserve.CheckLeaks(t)

	f := Open()
	fmt.Println("close:", f.Close()) // without it, go test -tags opassert reports OA107 leak

	for _, end := range t.cleanups {
		end()
	}
	// Output: close: <nil>
}
