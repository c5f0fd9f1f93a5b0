// Package live watches the Python objects of tensors and storages in a program on an unmodified PyTorch: opassert run
// -preserve. A preloaded object writes what PyTorch does with them into a ring of records for each process, which
// this package judges: see docs/objects.md.
package live
