package watch

import "encoding/binary"

// The kinds of the watcher's frames, with what opassert answers.
const (
	frameHello   = 'H' // process, parent, rank, version of libtorch, folder of Python's modules, Python's threads -> settings
	frameOp      = 'O' // A where versions are raised later, else -, and what schemas.cpp lists of an op -> what is expected of its calls
	frameNames   = 'N' // names of ops that are not PyTorch's own -> nothing
	frameCall    = 'C' // a call that does not look usual -> nothing, or a number
	frameSite    = 'S' // that number, who answered, a letter for the sort of frames and the frames, in lines -> nothing, or what to raise, or ? and a line of generated code
	frameOrigin  = 'L' // that line, then file, line and function of each frame that it comes from -> nothing
	frameRecord  = 'R' // an op's number, the call's, names of arguments and their values -> nothing
	frameTrouble = 'E' // why a process is not watched -> nothing
)

// words are what both sides count in.
func words(w ...int64) []byte {
	var b []byte
	for _, x := range w {
		b = binary.NativeEndian.AppendUint64(b, uint64(x))
	}
	return b
}
