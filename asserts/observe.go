package asserts

import "sync/atomic"

// An ID names a TensorImpl or a StorageImpl; 0 means none. Of two observations judged together, equal IDs name the same
// object, and others do not. So an engine must not reuse an ID while a call is being judged: it takes serial numbers
// from [NewID], or uses addresses and holds the objects in between, without counting its holds.
type ID uint64

var lastID atomic.Uint64

// NewID returns an ID that this process has not used before.
func NewID() ID { return ID(lastID.Add(1)) }

// NotCounted is a use count that an engine cannot supply. Then OA003 and OA005 are counted as
// skipped, and OA007 and OA008 report what they can.
const NotCounted int32 = -1

// An Observation is the state of one tensor at one moment. The zero value is an undefined tensor.
type Observation struct {
	Impl                  ID // 0: undefined
	Storage               ID // 0: the tensor has no storage (sparse, mkldnn, ...)
	ImplUses, StorageUses int32
	Version               uint32 // at the content level; below it, the bytes of the array that [ObserveSlice] observed
	Traits                Traits
	Content               *Snapshot // nil below the content level, and for a tensor without storage; but see Parts
}

func (o *Observation) counted() bool { return o.ImplUses != NotCounted }

// Defined reports whether there was a tensor to observe.
func (o *Observation) Defined() bool { return o.Impl != 0 }

// A Snapshot is the part of an Observation that the content level adds. A storage without bytes, on
// the meta device, has Digest 0 and no Bytes.
type Snapshot struct {
	DType, Device string
	Sizes         []int64
	Strides       []int64 // in elements
	Offset        int64   // in elements

	// ItemSize is the size in bytes of an element, or of each part of a complex one, if it is not that of the dtype,
	// such as for a float32 stored as a float64; 0 for that of the dtype, and Packed if elements share bytes.
	ItemSize int64

	Nbytes int64  // size of the whole storage, in bytes
	Digest uint64 // of every byte of the storage, also those that the tensor does not cover
	Bytes  []byte // a copy of a storage of at most SnapshotLimit bytes: evidence for reports

	Conj, Neg    bool // the conj and the neg bit
	RequiresGrad bool
	Leaf         bool   // it requires grad and has no history: backward ends here
	Names        string // of the dimensions: "N, C"; "" if they have none
	// "strided", "sparse_coo coalesced"; "strided number" for a tensor that type promotion treats as a number
	Layout    string
	Quantizer string // "per_tensor_affine 0.5 3"; "" without one
	Grad      ID     // the TensorImpl of .grad, or 0

	// Memory is the address of the storage's bytes; 0 if unknown, or if storages share them by design until a write.
	Memory uintptr

	// Owner frees those bytes.
	Owner Owner

	// Counter is the version counter, 0 if a tensor has none or it is unknown. Views have that of their base.
	Counter ID

	// Panic is the value with which observing the tensor panicked after the call; a Snapshot with it has nothing else.
	Panic string

	Parts []Part // the tensors inside; a tensor with parts has a Snapshot at every level

	// Pending is the holding of the call that is to observe the tensor; a Snapshot has nothing else then. Look clears it.
	Pending *holding `json:"-"`
}

// An Owner is the object that frees the bytes of a storage.
type Owner uint8

const (
	OwnStorage   Owner = iota // the storage, through its allocator; or unknown
	ForeignOwner              // a function that the storage calls, and that others may wait for
	NoOwner                   // the storage does not free them: static memory, or another object's
)

// Packed is the ItemSize of elements smaller than a byte, such as the bools of a bitset, 64 to a word. The bytes of a
// tensor within its storage are then unknown, so OA015 and OA017 are counted as skipped.
const Packed = -1

// SnapshotLimit is the size in bytes of the largest storage that an engine copies into [Snapshot.Bytes].
const SnapshotLimit = 64 << 10

// Traits are what the skip policy depends on. Those from 1<<16 on are a library's own, with rows in its [Policy].
type Traits uint32

const (
	MetaTensor        Traits = 1 << iota // no bytes behind its storage
	FunctionalWrapper                    // a FunctionalTensorWrapper
	DirectSubclass                       // a subclass whose instances are plain tensors
	WrapperSubclass                      // a subclass that wraps other tensors
	ReportsViews                         // a wrapper subclass that sets its storage to report its views
	NoVersion                            // no version counter: an inference tensor
	Storageless                          // added by the judge if Storage is 0; engines leave it out
	Contended                            // added by Look if another goroutine's call held the storage

	Lazy   // conj, neg or zero: the dispatcher may replace it with a plain tensor
	Unread // its bytes were not read: they are a subclass's, or on a device that did not copy them

	Pending // a collective that was not waited for holds it, and may write it at any time

	listHead // in the record of a Call: not a tensor, but the beginning of a list
)

// Tensor is implemented by a tensor type that is to be checked. Observe fills in an Observation
// that is zero, or leaves it unchanged for an undefined tensor, such as a nil receiver. It does not
// change a count, and it neither allocates at the identity level nor retains the pointer. Filling
// in place is fast: a returned struct would be copied while the processor is still writing it.
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

// Optional returns the tensor that a pointer leads to, or nil, for libraries whose tensors are values.
func Optional[T Tensor](t *T) Tensor {
	if t == nil {
		return nil
	}
	return *t
}
