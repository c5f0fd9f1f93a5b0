// Package trace reads the log of a PyTorch that prints what it does to the
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
// and are not looked at. What is not such a line is prose and passed over; such
// a line with a message that is not known is counted as unknown.
//
// The log may begin and end anywhere and have holes: numbers that jump, "...",
// a fence. What must follow what is only judged where no hole lies between.
//
// # Reading
//
// A [Reader] is an io.Writer: it takes the log in pieces of any size, in one
// pass. What it keeps is what lives: an object's [Life] is handed over when it
// ends, with at most [MaxEvents] of its events. [Read] does it all for a file.
//
// The data pointer is the only name that the log has for an impl. Null pointers
// name none; two impls may share their bytes, and bytes may move. Where the log
// proves such a thing, it is not a violation.
//
// # Output
//
// [Text], [JSON] and [HTML] write a log's lives and [Violation]s.
package trace
