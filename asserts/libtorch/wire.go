package libtorch

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/internal/tensor"
)

// What the numbers on the border mean; shim.h has the other side of it.
const (
	tagNone = iota
	tagDefault
	tagTensor
	tagInt
	tagFloat
	tagBool
	tagComplex
	tagString
	tagDevice
	tagStream
	tagList
	tagObject
	tagTuple
	tagDict
	tagNew
	tagSame
)

const (
	statusOK = iota
	statusRefused
	statusThrew
)

const headerWords = 3

const (
	traitMeta            = 1
	traitFunctional      = 2
	traitDirectSubclass  = 4
	traitWrapperSubclass = 8
	traitNoVersion       = 16
	traitReportsViews    = 32
	traitLazy            = 128
	traitUnread          = 256
)

const (
	flagConj = 1
	flagNeg  = 2
	flagGrad = 4
	flagLeaf = 8

	flagUnowned = 16
	flagForeign = 32
)

// traits says what an observation's bits are called in package asserts.
var traits = [...]struct{ bit, trait asserts.Traits }{
	{traitMeta, asserts.MetaTensor},
	{traitFunctional, asserts.FunctionalWrapper},
	{traitDirectSubclass, asserts.DirectSubclass},
	{traitWrapperSubclass, asserts.WrapperSubclass},
	{traitNoVersion, asserts.NoVersion},
	{traitReportsViews, asserts.ReportsViews},
	{traitLazy, asserts.Lazy},
	{traitUnread, asserts.Unread},
}

// A scratch is the memory of one crossing, used again by later ones.
type scratch struct {
	request []int64
	reply   []int64
	held    []handle // in use until free
	starts  []int    // of each argument: the index of its first tensor in the request
}

// maxPooled keeps the memory of an unusually long reply from staying.
const maxPooled = 1 << 16

var scratches = sync.Pool{New: func() any {
	return &scratch{request: make([]int64, 0, 256), reply: make([]int64, 1024)}
}}

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

// hold returns the address behind a handle, which stays in use until free.
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

// read returns the reply after its header, or the error that it is. What names
// the operator, or else what was asked for.
func (s *scratch) read(what string) (reader, error) {
	n := int(s.reply[1])
	if n > len(s.reply) {
		spill, head := s.reply[2], s.reply
		s.reply = make([]int64, n)
		copy(s.reply, head)
		nativeSpill(spill, s.reply[len(head):])
	}
	r := reader{words: s.reply[headerWords:n]}
	if s.reply[0] == statusOK {
		return r, nil
	}
	return reader{}, &Error{Op: what, Refused: s.reply[0] == statusRefused, Type: r.text(), Message: r.text()}
}

// A reader takes a reply apart.
type reader struct{ words []int64 }

func (r *reader) word() int64 {
	w := r.words[0]
	r.words = r.words[1:]
	return w
}

func (r *reader) float() float64 { return math.Float64frombits(uint64(r.word())) }

func (r *reader) text() string { return string(r.raw()) }

// raw returns bytes that are gone with the reply.
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
	n := r.word()
	l := make([]int64, n)
	copy(l, r.words)
	r.words = r.words[n:]
	return l
}

// observation reads what observe.h writes of one tensor; it returns the number of
// the parts that follow, or what the tensor is as a part.
func (r *reader) observation(o *asserts.Observation) (last int) {
	w := r.words[:4]
	r.words = r.words[4:]
	uses, rest := w[2], uint64(w[3])
	o.Impl, o.Storage = asserts.ID(w[0]), asserts.ID(w[1])
	o.ImplUses, o.StorageUses = int32(uses), int32(uses>>32)
	o.Version, o.Traits, o.Content = uint32(rest), 0, nil
	if rest>>32 == 0 {
		return 0
	}
	for _, t := range traits {
		if asserts.Traits(rest>>32)&t.bit != 0 {
			o.Traits |= t.trait
		}
	}
	if rest>>48&0xff != 0 {
		o.Content = r.content()
	}
	return int(rest >> 56)
}

func (r *reader) content() *asserts.Snapshot {
	c := &asserts.Snapshot{DType: DType(r.word()).String(), Device: deviceName(r.word(), r.word())}
	c.Offset = r.word()
	c.Nbytes = r.word()
	c.Digest = uint64(r.word())
	c.Sizes = r.list()
	if r.word() != 0 {
		n := len(c.Sizes)
		c.Strides = append([]int64{}, r.words[:n]...)
		r.words = r.words[n:]
	}
	if b := r.raw(); b != nil {
		c.Bytes = append([]byte{}, b...)
	}
	flags := r.word()
	c.Conj, c.Neg, c.RequiresGrad, c.Leaf = flags&flagConj != 0, flags&flagNeg != 0, flags&flagGrad != 0, flags&flagLeaf != 0
	switch {
	case flags&flagUnowned != 0:
		c.Owner = asserts.Nobody
	case flags&flagForeign != 0:
		c.Owner = asserts.Somebody
	}
	c.Names, c.Layout, c.Quantizer = r.text(), r.text(), r.text()
	c.Grad, c.Memory, c.Counter = asserts.ID(r.word()), uintptr(r.word()), asserts.ID(r.word())
	return c
}

func deviceName(typ, index int64) string {
	name := "privateuseone"
	if typ >= 0 && int(typ) < len(tensor.Devices) {
		name = tensor.Devices[typ]
	}
	if index < 0 || name == "cpu" || name == "meta" {
		return name
	}
	return name + ":" + strconv.FormatInt(index, 10)
}

func parseDevice(text string) (typ, index int64, ok bool) {
	name, number, numbered := strings.Cut(text, ":")
	if typ, ok = tensor.Devices.Number(name); !ok {
		return 0, 0, false
	}
	index = -1
	if numbered {
		n, err := strconv.ParseInt(number, 10, 8)
		if err != nil {
			return 0, 0, false
		}
		index = n
	}
	return typ, index, true
}
