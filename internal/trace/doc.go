// Package trace reads the log of a PyTorch that prints how it changes the Python
// objects of storages, and finds the line where preservation broke.
//
// # The log
//
// A line is
//
//	N [path/file.cpp:LINE] (subject) message
//
// N, the line's own number, may be absent: then the number of the line in the file is
// used. The subject is a data pointer (0x..., which stands for the StorageImpl),
// "PyObject: 0x..." or "tensor PyObject: 0x...", each with or without ", interpreter:
// 0x...". File names and LINE differ between patches and are ignored. Any other line
// is prose and ignored; a line of this form with an unknown message is counted.
// Colours, times and names before a line are ignored, and so is another thread's
// output after a message, on its line; a message that such output interrupts is a
// hole. A line may be a JSON object of a log collector: Docker's json-file,
// journalctl -o json, Fluentd, those of clouds.
//
// The log may begin and end anywhere and have holes: gaps in the numbers, or, without
// numbers, "..." and fences. The order of lines is only judged without a hole between
// them. Lines whose prefix names a process, as launchers write it ("[rank0]:",
// "worker-1 |"), are followed separately. Package live writes such a log too, with
// the impl's address as the data pointer, and with the allocation of objects.
//
// A line without a subject may say "PyTorch 2.12.0": the protocol is chosen by
// the version, for the lines that follow. From 2.10 on nothing is preserved or
// resurrected, and a release while the impl is shared is the fault; "kHasPyObject is
// not set", printed before the use count, is the reason. See package preserve.
//
// # Reading
//
// A [Reader] is an io.Writer: it takes the log in pieces of any size, in one
// pass. It keeps only living objects: a [Life] is passed on when it ends, with at
// most [MaxEvents] events. [Read] reads a file.
//
// The log identifies an impl only by its data pointer. Null pointers identify none;
// two impls may share their bytes, and bytes may move. If the log proves that this
// happened, it is not a violation; if it is as likely as a fault, it is a warning:
// without use counts that contradict it, if it occurs more than once, or if the log
// proves it elsewhere.
//
// # Roots
//
// A [Violation] may follow from another: a hermetic context that gets an object from
// outside loses every object that it releases.
//
// # Output
//
// [Text], [JSON] and [HTML] write a log's lives and [Violation]s.
package trace
