package torch

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/tensor"
)

// WatchMemory puts tensors into watched memory, if called before the first op; or, on
// a device, into filled memory, there and on the CPU.
func (l *Libtorch) WatchMemory() (err error) {
	if l.device.Name != "" {
		l.filled, err = libtorch.FillMemory(l.device.DeviceInfo, 0)
	} else {
		_, _, err = libtorch.WatchMemory(false, false, 0)
	}
	l.watched = err == nil
	return err
}

// Watched reports whether memory is watched.
func (l *Libtorch) Watched() bool { return l.watched }

// Arrange sets whether new tensors lie after or before a page that can't be accessed,
// whether arguments are aligned as c10's allocator does, and the byte that fills their memory.
func (l *Libtorch) Arrange(ahead, aligned bool, fill byte) {
	if l.device.Name != "" {
		libtorch.FillMemory(l.device.DeviceInfo, fill)
		libtorch.FillMemory(libtorch.DeviceInfo{Name: tensor.CPU}, fill)
	} else {
		libtorch.WatchMemory(ahead, aligned, fill)
	}
}

// Reuse places the same new tensors at the same addresses, once those before are gone, aligned
// and in filled memory as with Arrange, until the next Arrange.
func (l *Libtorch) Reuse(aligned bool, fill byte) {
	if l.device.Name == "" {
		libtorch.ReuseMemory(aligned, fill)
	}
}

// MemoryFaults returns the memory faults of the last call of an op, and the reasons why
// some storage since Arrange is not watched or not filled.
func (l *Libtorch) MemoryFaults(op *asserts.Op) (faults []asserts.Fault, unwatched, unfilled string) {
	if l.device.Name != "" {
		if !l.filled {
			unfilled = "the backend of " + l.device.Name + " allocates by a caching allocator, or by none that is registered"
		}
		return nil, "memory of " + l.device.Name + " is its backend's", unfilled
	}
	touches, n, _ := libtorch.WatchMemory(false, false, 0)
	if n > 0 {
		unwatched = "a storage is too large to be watched, or one too many"
	}
	outside := false // a distant access hits memory of other storages
	for i := range touches {
		t := &touches[i]
		if !outside || t.How == libtorch.Outside && t.Owner != libtorch.OfEarlier {
			faults = append(faults, fault(op, t))
		}
		outside = outside || t.How == libtorch.Outside
	}
	return faults, unwatched, unwatched
}

// fault describes an access in words.
func fault(op *asserts.Op, t *libtorch.Touch) asserts.Fault {
	called, _ := libtorch.Lookup(op.Name)
	f := asserts.Fault{Code: asserts.OutOfBounds}
	owner := ownerOf(called, t)
	switch t.Owner {
	case libtorch.OfArgument:
		f.Argument = called.Args[t.Index].Name
	case libtorch.OfReturn:
		f.Return = t.Index + 1
	}
	does := "the kernel " + verbs[[2]bool{t.Reads, t.Writes}]
	switch t.How {
	case libtorch.Freed:
		f.Code = asserts.UseAfterFree
		f.Saw = fmt.Sprintf("%s memory that was freed: byte %d of the %d of %s", does, t.First, t.Nbytes, owner)
		f.Fix = "keep a Tensor, which holds the storage, in place of a pointer; " +
			"or don't touch the memory once the last of its tensors is gone"
	case libtorch.ReadOnly:
		f.Code, f.Symptom = asserts.UndeclaredWrite, asserts.Restored
		f.Saw = fmt.Sprintf("%s byte %d of the storage of %s, and what it held is there again after the call",
			does, t.First, owner)
	default:
		f.Saw = fmt.Sprintf("%s %s of the storage of %s, which has %d bytes", does, distance(t), owner, t.Nbytes)
		f.Fix = "keep every access within the tensor's sizes, strides and offset: " +
			"c10's allocator allocates only the bytes that it is asked for"
	}
	f.Frames = Frames(t.Frames)
	return f
}

// verbs are those of a touch that reads, and that writes.
var verbs = map[[2]bool]string{{true, false}: "reads", {false, true}: "writes", {true, true}: "reads and writes"}

// distance returns how far outside a storage an access was: "byte 1 after the end".
func distance(t *libtorch.Touch) string {
	near, far, where := t.First-t.Nbytes+1, t.Last-t.Nbytes+1, "after the end"
	switch {
	case t.Last < 0:
		near, far, where = -t.Last, -t.First, "before the beginning"
	case t.First < 0:
		return fmt.Sprintf("bytes from %d before the beginning to %d after the end", -t.First, far)
	}
	if near == far {
		return fmt.Sprintf("byte %d %s", near, where)
	}
	return fmt.Sprintf("bytes %d to %d %s", near, far, where)
}

// ownerOf names the owner of the accessed memory.
func ownerOf(op *libtorch.Op, t *libtorch.Touch) string {
	earlier := ""
	if t.How == libtorch.Freed {
		earlier = " of an earlier call"
	}
	switch t.Owner {
	case libtorch.OfArgument:
		return "argument " + op.Args[t.Index].Name + earlier
	case libtorch.OfReturn:
		return fmt.Sprintf("return %d%s", t.Index, earlier)
	case libtorch.OfEarlier:
		return "a tensor from before the call"
	}
	return "a tensor that the call made"
}
