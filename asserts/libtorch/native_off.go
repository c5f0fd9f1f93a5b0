//go:build !unix || !cgo

package libtorch

import "github.com/opassert/opassert/asserts"

const cgo = false

func open([]string) error { return ErrNoCgo }

// Nothing below is reached, since open fails first.

func nativeStart(reply []int64)                               { absent() }
func nativeSchemas(name string, reply []int64)                { absent() }
func nativeLoad(path string, reply []int64)                   { absent() }
func nativeDevice(name string, reply []int64)                 { absent() }
func nativeCall(request, reply []int64)                       { absent() }
func nativeObserve(impl int64, l asserts.Level, rep []int64)  { absent() }
func nativeBytes(impl int64, dst []byte, reply []int64)       { absent() }
func nativeStrided(request []int64, data []byte, rep []int64) { absent() }
func nativeWrap(impl int64, reply []int64)                    { absent() }
func nativeMark(impl int64, reply []int64)                    { absent() }
func nativeMeta(impls, reply []int64)                         { absent() }
func nativeGenerator(seed int64, reply []int64)               { absent() }
func nativeStorage(impl int64, reply []int64)                 { absent() }
func nativeSeed(seed int64, reply []int64)                    { absent() }
func nativeThreads(count int64, reply []int64)                { absent() }
func nativeMemory(ahead, fill int64, reply []int64)           { absent() }
func nativeFill(device, fill int64, reply []int64)            { absent() }
func nativeLeft(reply []int64)                                { absent() }
func nativeSpill(spill int64, dst []int64)                    { absent() }
func nativeRelease(impl int64)                                { absent() }
func nativeDrop(object int64)                                 { absent() }

func openRemote(int) { absent() }

func absent() { panic(ErrNoCgo) }
