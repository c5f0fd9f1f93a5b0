package asserts

import "sync/atomic"

// An ID names a TensorImpl or a StorageImpl; 0 means none. Two observations that
// are judged together name the same object exactly when their IDs are equal.
// So an engine must not let an ID be used again while a call is being judged:
// it takes serial numbers from [NewID], or it uses addresses and holds the
// objects between the two observations without counting its own holds.
type ID uint64

var lastID atomic.Uint64

// NewID returns an ID that this process has not given before.
func NewID() ID { return ID(lastID.Add(1)) }

// NotCounted is a use count that an engine cannot supply. OA003 and OA005 are then
// left to OA007 and OA008, and counted as skipped.
const NotCounted int32 = -1

// An Observation is the state of one tensor at one moment. The zero
// value is an undefined tensor.
type Observation struct {
	Impl        ID // 0: undefined
	Storage     ID // 0: the tensor has no storage (sparse, mkldnn, ...)
	ImplUses    int32
	StorageUses int32
	Version     uint32 // of interest at the content level alone
	Traits      Traits
	Content     *Snapshot // nil below the content level, and for a tensor without storage; but see Parts
}

// counted reports whether the engine knows how many uses the tensor has.
func (o *Observation) counted() bool { return o.ImplUses != NotCounted }

// Defined reports whether there was a tensor to observe.
func (o *Observation) Defined() bool { return o.Impl != 0 }

// A Snapshot is the part of an Observation that the content level adds. A storage without bytes, on the meta
// device, has Digest 0 and no Bytes.
type Snapshot struct {
	DType   string
	Device  string
	Sizes   []int64
	Strides []int64 // in elements
	Offset  int64   // in elements

	// ItemSize is how many bytes an element takes, or each part of a complex one,
	// where a library keeps it in another type, a float32 in a float64; 0 where
	// the dtype's name says it, and Packed where elements share bytes.
	ItemSize int64

	Nbytes int64  // size of the whole storage, in bytes
	Digest uint64 // of every byte of the storage, not only those the tensor covers
	Bytes  []byte // a copy of the storage where it is at most SnapshotLimit bytes: evidence for reports

	Conj, Neg    bool // the conj and the neg bit
	RequiresGrad bool
	Leaf         bool   // it requires grad and has no history: backward ends at it
	Names        string // of the dimensions: "N, C"; "" where they have none
	Layout       string // "strided", "sparse_coo coalesced", "strided number" of one that types are promoted for as for a number
	Quantizer    string // "per_tensor_affine 0.5 3"; "" without one
	Grad         ID     // the TensorImpl of .grad, or 0

	// Memory is where the bytes of the storage begin; 0 where that is not known,
	// or where other storages share them by design until one is written.
	Memory uintptr

	// Owner says who frees those bytes, where that is not the storage alone.
	Owner Owner

	// Counter is the version counter, 0 where a tensor has none or it is unknown.
	// Views have that of their base.
	Counter ID

	// Panic is the value with which observing the tensor panicked after the call, in a Snapshot
	// that has nothing else.
	Panic string

	Parts []Part // the tensors inside; a tensor that has some has a Snapshot at every level

	// Pending is the holding of the call that is to observe the tensor, in a Snapshot
	// that has nothing else; nil once Look has been called.
	Pending *holding `json:"-"`
}

// An Owner is who frees the bytes of a storage.
type Owner uint8

const (
	OwnStorage   Owner = iota // the storage, as it frees what an allocator makes; or not known
	ForeignOwner              // a function that the storage calls, and that others may wait for
	NoOwner                   // no owner that the storage knows: static memory, or memory of another object
)

// Packed is the ItemSize of elements that are smaller than a byte, such as the
// bools of a bitset, 64 to a word. Which bytes of the storage are theirs is not known,
// so that OA015 and OA017 are counted skips.
const Packed = -1

// SnapshotLimit is the largest storage, in bytes, that an engine copies into
// [Snapshot.Bytes].
const SnapshotLimit = 64 << 10

// Traits are the properties of an observed tensor, for the skip policy. Bits that
// are not named here are handed out by [RegisterSubclass].
type Traits uint32

const (
	MetaTensor        Traits = 1 << iota // no bytes behind its storage
	FunctionalWrapper                    // a FunctionalTensorWrapper
	DirectSubclass                       // a subclass whose instances are plain tensors
	WrapperSubclass                      // a subclass that wraps other tensors
	ReportsViews                         // a wrapper subclass that sets its storage to report its views
	NoVersion                            // no version counter: an inference tensor
	Storageless                          // added by the judge where Storage is 0; engines leave it out
	Contended                            // added by Look where another goroutine's call held the storage

	Lazy   // conj, neg or zero: the dispatcher may put a plain tensor in its place
	Unread // it has bytes, which the engine did not read: a subclass's own, or not copied by a device

	listHead // in the record of a Call: no tensor, a list begins here

	lastTrait = listHead
)

// Tensor is implemented by a tensor type that is to be checked. Observe
// fills in an Observation that is zero, which an undefined tensor, such as a
// nil receiver, leaves unchanged. It does not change a count, and it neither
// allocates at the identity level nor retains the pointer. Filling in place makes a
// checked call cheap: a returned struct would be copied in chunks that the processor
// has not finished writing.
type Tensor interface {
	Observe(*Observation, Level)
}

// Observe returns an observation of a tensor; nil is an undefined tensor.
func Observe(t Tensor, level Level) Observation {
	var o Observation
	if t != nil {
		t.Observe(&o, level)
	}
	return o
}

// Optional returns the tensor that a pointer may lead to, for libraries whose
// tensors are values.
func Optional[T Tensor](t *T) Tensor {
	if t == nil {
		return nil
	}
	return *t
}
