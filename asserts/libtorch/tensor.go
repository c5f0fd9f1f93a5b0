package libtorch

import (
	"errors"
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A Tensor is a handle that owns one strong reference to a TensorImpl. It is a plain value, safe
// for use by many goroutines; copies are the same handle. The zero Tensor is an undefined tensor.
// The receiver of a Tensor releases it, once: a later use is an error, never a crash.
type Tensor struct{ h handle }

// An Object is a handle that owns any other value of libtorch: a generator, a storage, an instance
// of a custom class. The rules are those of [Tensor].
type Object struct{ h handle }

// Release releases the reference, after the calls that use the tensor. For the zero Tensor it does nothing.
func (t Tensor) Release() error { return t.h.release() }

// Release releases the reference; see [Tensor.Release].
func (o Object) Release() error { return o.h.release() }

// Defined reports whether there is a tensor.
func (t Tensor) Defined() bool { return t != Tensor{} }

// See observes the tensor. Its counts include the handle's own reference.
func (t Tensor) See(level asserts.Level) (asserts.Observation, error) {
	return observe(t, level, func(r *reader) (o asserts.Observation) {
		r.observation(&o)
		return o
	})
}

// observe makes the shim observe the tensor, if there is one, and reads the reply.
func observe[T any](t Tensor, level asserts.Level, take func(*reader) T) (taken T, err error) {
	if !t.Defined() {
		return taken, nil
	}
	return askOf(t, "observe", crossing{function: fnObserve, second: int64(level)}, take)
}

// Observe is [Tensor.See] for package asserts: a released handle is an undefined tensor.
func (t Tensor) Observe(o *asserts.Observation, level asserts.Level) { *o, _ = t.See(level) }

// Parts observes the tensors inside the tensor; see [asserts.WithParts].
func (t Tensor) Parts(level asserts.Level) ([]asserts.Observation, error) {
	return observe(t, level, func(r *reader) (parts []asserts.Observation) {
		var o asserts.Observation
		for range r.observation(&o) {
			r.observation(&o)
			parts = append(parts, o)
		}
		return parts
	})
}

// Bytes returns a copy of the tensor's whole storage, empty if it is not on the CPU or has none.
func (t Tensor) Bytes() ([]byte, error) {
	size, err := askOf(t, "read", crossing{function: fnBytes}, (*reader).word)
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	_, err = askOf(t, "read", crossing{function: fnBytes, data: data}, (*reader).word)
	return data, err
}

// answer returns the reply after its header.
func (s *scratch) answer() reader {
	n := int(s.reply[1])
	if n > len(s.reply) {
		spill, head := s.reply[2], s.reply
		s.reply = make([]int64, n)
		copy(s.reply, head)
		cross(crossing{function: fnSpill, first: spill}, nil, s.reply[len(head):])
	}
	return reader{words: s.reply[headerWords:n]}
}

// askOf calls the shim with one tensor, and reads the reply.
func askOf[T any](t Tensor, what string, c crossing, take func(*reader) T) (taken T, err error) {
	if c.first, err = t.h.use(); err != nil {
		return taken, err
	}
	defer t.h.done()
	return reply(what, c, take)
}

// ask initializes libtorch if necessary, calls the shim and reads the reply.
func ask[T any](what string, c crossing, take func(*reader) T) (taken T, err error) {
	if err := start(); err != nil {
		return taken, err
	}
	return reply(what, c, take)
}

// reply calls the shim and reads the reply.
func reply[T any](what string, c crossing, take func(*reader) T) (taken T, err error) {
	s := newScratch()
	defer s.free()
	cross(c, nil, s.reply)
	if s.rest, err = s.read(what); err == nil {
		taken = take(&s.rest)
	}
	return taken, err
}

// StorageOf returns an object that refers to the tensor's storage, for arguments of type Storage.
func StorageOf(t Tensor) (Object, error) {
	return askOf(t, "storage", crossing{function: fnStorage}, (*reader).object)
}

// NewGenerator makes a CPU generator, for arguments of type Generator.
func NewGenerator(seed uint64) (Object, error) {
	return ask("generator", crossing{function: fnGenerator, first: int64(seed)}, (*reader).object)
}

// Seed seeds the default CPU generator, which kernels use if they get no other.
func Seed(seed uint64) error {
	_, err := ask("seed", crossing{function: fnSeed, first: int64(seed)}, (*reader).nothing)
	return err
}

// Threads sets the number of threads among which ops divide their work; ops called by others use one. It begins as one.
func Threads(count int) {
	ask("threads", crossing{function: fnThreads, first: int64(count)}, (*reader).nothing)
}

// OtherSettings sets some settings of the process to values that no kernel is likely to choose, or back.
func OtherSettings(other bool) error {
	_, err := ask("settings", crossing{function: fnSettings, first: truth(other)}, (*reader).nothing)
	return err
}

// RestoreState describes the state of the process besides tensors that calls have changed since the last
// library was loaded, or since the last [SaveState] or RestoreState, one change a line, and restores it.
func RestoreState() (string, error) { return ask("state", crossing{function: fnLeft}, (*reader).text) }

// MetaTwins returns tensors on the meta device with the same relations as ts: the same sizes, strides, offsets and
// dtypes, one Tensor for several with one TensorImpl, and one storage for several with one storage. Tensors that are
// not plain strided ones have no twins. Release the result with [ReleaseAll].
func MetaTwins(ts ...Tensor) ([]Tensor, error) {
	if err := start(); err != nil {
		return nil, err
	}
	s := newScratch()
	defer s.free()
	place := make(map[int64]int) // position of a TensorImpl in the request
	places := make([]int, len(ts))
	for i, t := range ts {
		address, err := s.hold(t.h)
		if err != nil {
			return nil, err
		}
		if _, ok := place[address]; !ok && t.Defined() {
			place[address] = len(s.request)
			s.put(address)
		}
		places[i] = place[address]
	}
	cross(crossing{function: fnMeta}, s.request, s.reply)
	r, err := s.read("meta twins")
	if err != nil {
		return nil, err
	}
	made := make([]Tensor, len(s.request))
	for i := range made {
		made[i] = newTensor(r.word())
	}
	twins := make([]Tensor, len(ts))
	for i, t := range ts {
		if t.Defined() {
			twins[i] = made[places[i]]
		}
	}
	return twins, nil
}

// Gradients calls the formulas of results, each with a gradient, and returns the gradients of arguments, undefined
// ones for those that have no gradient. Release the result with [ReleaseAll].
func Gradients(arguments, results, gradients []Tensor) ([]Tensor, error) {
	if err := start(); err != nil {
		return nil, err
	}
	s := newScratch()
	defer s.free()
	for _, t := range slices.Concat(arguments, results, gradients) {
		address, err := s.hold(t.h)
		if err != nil {
			return nil, err
		}
		s.put(address)
	}
	cross(crossing{function: fnGrad, first: int64(len(arguments)), second: int64(len(results))}, s.request, s.reply)
	r, err := s.read("backward")
	if err != nil {
		return nil, err
	}
	made := make([]Tensor, len(arguments))
	for i := range made {
		if address := r.word(); address != 0 {
			made[i] = newTensor(address)
		}
	}
	return made, nil
}

// ReleaseAll releases each of the tensors once, even if it occurs several times.
func ReleaseAll(ts ...Tensor) error {
	seen := make(map[Tensor]bool)
	var errs []error
	for _, t := range ts {
		if !seen[t] {
			seen[t] = true
			errs = append(errs, t.Release())
		}
	}
	return errors.Join(errs...)
}
