package watch

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A frame is what the two sides send: its kind and its length, each four bytes
// in the machine's order, then that many bytes. Each is answered by one of the
// same kind.
type frame struct {
	kind byte
	data []byte
}

// The kinds, with what opassert answers.
const (
	frameWatcher = 'W' // where libtorch_cpu is -> where the watcher is; "!" and a trouble -> nothing
	frameHello   = 'H' // process, parent, rank, version of libtorch, folder of Python's modules -> settings
	frameOp      = 'O' // A where versions are raised later, else -, and what schemas.cpp lists of an op -> what is expected of its calls
	frameNames   = 'N' // names of ops that are not PyTorch's own -> nothing
	frameCall    = 'C' // a call that does not look usual -> nothing, or a number
	frameSite    = 'S' // that number, a letter for the sort of frames, the frames -> nothing, or what to raise
	frameRecord  = 'R' // an op's number, the call's, names of arguments and their values -> nothing
	frameTrouble = 'E' // why a process is not watched -> nothing
)

// maxFrame bounds what a broken peer makes this side allocate.
const maxFrame = 1 << 30

func readFrame(r io.Reader) (frame, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.NativeEndian.Uint32(head[4:])
	if n > maxFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes", n)
	}
	f := frame{kind: byte(binary.NativeEndian.Uint32(head[:])), data: make([]byte, n)}
	_, err := io.ReadFull(r, f.data)
	return f, err
}

func (f frame) write(w io.Writer) error {
	head := binary.NativeEndian.AppendUint32(nil, uint32(f.kind))
	head = binary.NativeEndian.AppendUint32(head, uint32(len(f.data)))
	_, err := w.Write(append(head, f.data...))
	return err
}

// words are what both sides count in.
func words(w ...int64) []byte {
	var b []byte
	for _, x := range w {
		b = binary.NativeEndian.AppendUint64(b, uint64(x))
	}
	return b
}
