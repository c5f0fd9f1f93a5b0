// Package trace reads the log of a PyTorch that prints how it changes the
// Python objects of storages, and finds the line where preservation broke.
//
// # The log
//
// A line is
//
//	N [path/file.cpp:LINE] (subject) message
//
// N, the line's own number, may be absent: then the number of the line in the
// file counts. The subject is a data pointer (0x..., which stands for the
// StorageImpl), "PyObject: 0x..." or "tensor PyObject: 0x...", each with or
// without ", interpreter: 0x...". File names and LINE differ between patches
// and are not looked at. Any other line is prose and passed over; such
// a line with a message that is not known is counted as unknown. Colours, times
// and names before a line are passed over, and so is other output that another
// thread printed behind a message, on its line; a message that is torn by it is
// a hole. A line may be a JSON object in which a collector keeps it: Docker's
// json-file, journalctl -o json, Fluentd, those of clouds.
//
// The log may begin and end anywhere and have holes: numbers that jump, and
// where lines have no numbers "..." and fences. The order of lines is only
// judged where no hole lies between. Lines whose prefix names a process, as
// launchers write it ("[rank0]:", "worker-1 |"), belong to a world of their own.
// A live run writes such a log too (package live): it has the impl's address for
// the data pointer, and says where an object is allocated.
//
// A line without a subject may say "PyTorch 2.12.0": the protocol is chosen by
// the version, for the lines that follow. From 2.10 on nothing is preserved or
// resurrected, and a release while the impl is shared is the fault; "kHasPyObject
// is not set", said of the object before its use count, says why. See package
// preserve.
//
// # Reading
//
// A [Reader] is an io.Writer: it takes the log in pieces of any size, in one
// pass. It keeps the living alone: an object's [Life] is handed over when it
// ends, with at most [MaxEvents] of its events. [Read] does it all for a file.
//
// The data pointer is the only name that the log has for an impl. Null pointers
// name none; two impls may share their bytes, and bytes may move. Where the log
// proves such a thing, it is not a violation, and where it is as likely as a
// fault, it is a warning: where the log has no use counts that say otherwise, if
// it comes more than once, or if the log proves such a thing elsewhere.
//
// # Roots
//
// A [Violation] may follow from another: a hermetic context that is handed an
// object from outside costs every object that it releases.
//
// # Output
//
// [Text], [JSON] and [HTML] write a log's lives and [Violation]s.
package trace
