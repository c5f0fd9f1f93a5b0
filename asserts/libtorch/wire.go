package libtorch

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/opassert/opassert/asserts"
)

// A scratch is the memory of one crossing, reused by later ones.
type scratch struct {
	request, reply []int64
	held           []handle // in use until free
	starts         []int    // index in the request of each argument's first tensor
	rest           reader   // of the reply: a local variable would escape, and be allocated for each result
}

// maxPooled limits the size of a reply whose memory is reused.
const maxPooled = 1 << 16

var scratches = sync.Pool{New: func() any {
	return &scratch{request: make([]int64, 0, 256), reply: make([]int64, 1024)}
}}

// A crossing is a function of the shim, with its arguments besides the words of a request.
type crossing struct {
	function, first, second int64
	data                    []byte
}

func newScratch() *scratch {
	s := scratches.Get().(*scratch)
	s.request = s.request[:0]
	return s
}

func (s *scratch) free() {
	for _, h := range s.held {
		h.done()
	}
	s.held = s.held[:0]
	if len(s.reply) <= maxPooled {
		scratches.Put(s)
	}
}

// hold returns the address of a handle's object, which remains in use until free.
func (s *scratch) hold(h handle) (int64, error) {
	if h == (handle{}) {
		return 0, nil
	}
	address, err := h.use()
	if err != nil {
		return 0, err
	}
	s.held = append(s.held, h)
	return address, nil
}

func (s *scratch) put(words ...int64) { s.request = append(s.request, words...) }

func (s *scratch) putText(text string) {
	s.put(int64(len(text)))
	for len(text) > 0 {
		var w [8]byte
		n := copy(w[:], text)
		s.put(int64(binary.NativeEndian.Uint64(w[:])))
		text = text[n:]
	}
}

// read returns the reply after its header, or its error. The argument what is the operator, or else the request.
func (s *scratch) read(what string) (reader, error) {
	r := s.answer()
	return r, s.thrown(what, &r)
}

// thrown reads the error at the end of a reply, if any.
func (s *scratch) thrown(what string, r *reader) error {
	if s.reply[0] == statusOK {
		return nil
	}
	return &Error{Op: what, Refused: s.reply[0] == statusRefused, Type: r.text(), Message: r.text()}
}

type reader struct{ words []int64 }

func (r *reader) word() int64 {
	w := r.words[0]
	r.words = r.words[1:]
	return w
}

// count reads the number of items that follow, each of at least one word. Like any read it panics
// if the reply is too short, whatever another process wrote.
func (r *reader) count() int {
	n := r.word()
	return len(r.words[:n])
}

// nothing reads a reply that consists of the header.
func (r *reader) nothing() struct{} { return struct{}{} }

func (r *reader) object() Object { return newObject(r.word()) }

// truth reads a number that truth wrote.
func (r *reader) truth() bool { return r.word() != 0 }

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (r *reader) float() float64 { return math.Float64frombits(uint64(r.word())) }

func (r *reader) text() string {
	const strided = "Strided"                     // the layout of nearly all tensors
	if text := r.raw(); string(text) != strided { //mutate:equivalent true: only saves memory
		return string(text)
	}
	return strided
}

// raw returns bytes that are valid as long as the reply.
func (r *reader) raw() []byte {
	n := r.word()
	words := r.words[:(n+7)/8]
	r.words = r.words[len(words):]
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

func (r *reader) list() []int64 {
	return r.copied(r.count())
}

// strides reads as many words as there are dimensions, or none.
func (r *reader) strides(dims int) []int64 {
	if r.word() == 0 {
		return nil
	}
	return r.copied(dims)
}

func (r *reader) copied(n int) []int64 {
	words := slices.Clone(r.words[:n])
	r.words = r.words[n:]
	return words
}

// observation reads what observe.h wrote about one tensor, last the number of parts that follow, or its role as a part.
func (r *reader) observation(o *asserts.Observation) (last int) {
	h := (*head)(r.words)
	r.words = r.words[len(h):]
	o.Impl, o.Storage = asserts.ID(h.impl()), asserts.ID(h.storage())
	o.ImplUses, o.StorageUses = h.implUses(), h.storageUses()
	o.Version, o.Traits, o.Content = uint32(h.version()), 0, nil
	for set := h.traits(); set != 0; set &= set - 1 {
		o.Traits |= traits[bits.TrailingZeros16(set)]
	}
	if h.full() != 0 {
		o.Content = r.snapshot()
	}
	return int(h.last())
}

func (r *reader) snapshot() *asserts.Snapshot {
	var c inContents
	r.contents(&c)
	s := &asserts.Snapshot{
		DType: DType(c.dtype).String(), Device: deviceName(c.deviceType, c.deviceIndex),
		Sizes: c.sizes, Strides: c.strides, Offset: c.offset, Nbytes: c.nbytes, Digest: uint64(c.digest),
		Conj: c.flags&flagConj != 0, Neg: c.flags&flagNeg != 0, RequiresGrad: c.flags&flagGrad != 0,
		Leaf:  c.flags&flagLeaf != 0,
		Names: c.names, Layout: c.layout, Quantizer: c.quantizer,
		Grad: asserts.ID(c.grad), Memory: uintptr(c.memory), Counter: asserts.ID(c.counter),
		Bytes: bytes.Clone(c.bytes),
	}
	switch {
	case c.flags&flagUnowned != 0:
		s.Owner = asserts.NoOwner
	case c.flags&flagForeign != 0:
		s.Owner = asserts.ForeignOwner
	}
	return s
}

func parseDevice(text string) (typ, index int64, ok bool) {
	name, number, numbered := strings.Cut(text, ":")
	if typ, ok = deviceType(name); !ok {
		return 0, 0, false
	}
	index = noIndex
	if numbered {
		n, err := strconv.ParseInt(number, 10, 8)
		if err != nil {
			return 0, 0, false
		}
		index = n
	}
	return typ, index, true
}
