// Package wire describes what C++ and Go exchange, numbers and the words of records, for generated headers and readers.
package wire

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

//go:generate go run ./regen

// An Enum is a set of named numbers: oa_tag in C, tag in Go. The first is 0, or bit 0.
type Enum struct {
	Name, Doc string
	Bits      bool
	Members   []Member
}

// A Member is one of an enum.
type Member struct {
	Name  string // "no version"
	Doc   string
	Words string // its name in messages and reports
	Trait string // its name in package asserts
}

// Tags are the encodings of values, in requests and in replies.
var Tags = Enum{Name: "tag", Doc: "The encodings of values, in requests and in replies.", Members: []Member{
	{"none", "in a request: the index that a tensor there would have, or oa_no_tensor. In a reply: -", "None", ""},
	{"default", "- the schema's default; in requests only", "the default", ""},
	{"tensor", "in a request: the index among its tensors. In a reply: TensorImpl, owned by the receiver; 0 undefined",
		"a tensor", ""},
	{"int", "value", "an int", ""},
	{"float", "bits", "a float", ""},
	{"bool", "0 or 1", "a bool", ""},
	{"complex", "real bits, imaginary bits", "a complex number", ""},
	{"string", "bytes, then the bytes in words", "a string", ""},
	{"device", "type, index", "a device", ""},
	{"stream", "device type, device index, stream id", "a stream", ""},
	{"list", "length, then the values", "a list", ""},
	{"object", "address of an IValue; in a reply its type follows as a string, and the receiver owns it", "an object", ""},
	{"tuple", "length, then the values; in requests only, as are the next", "a tuple", ""},
	{"dict", "length, then the keys, each before its value", "a dict", ""},
	{"new", "the class, bytes and words, the number of arguments, and these: an object of a custom class",
		"a new object", ""},
	{"same", "the number of an earlier argument", "another argument", ""},
}}

// Functions are those of entry.h.
var Functions = []string{
	"start", "schemas", "load", "device", "call", "observe", "bytes", "strided", "wrap", "mark", "meta", "generator",
	"object", "storage", "seed", "threads", "memory", "fill", "left", "settings", "grad",
}

// Numbers are constants outside of enums.
var Numbers = []Number{
	{"header words", 3, "A reply starts with its status, its length in words, and the address of the words that did not " +
		"fit, 0 for none. If it is not OK, two strings follow: the type of the exception and its message."},
	{"uncounted", int(asserts.NotCounted), "An unknown use count."},
	{"no tensor", -1, "The index of a tensor that is not in the request."},
	{"no dtype", -1, "The dtype of a tensor without one."},
	{"no index", -1, "The index of a type's current device."},
	{"addressed", tensor.Addressed, "A bit for each type of devices whose pointers are addresses: those of Metal " +
		"point to objects."},
}

// A Number is a constant.
type Number struct {
	Name  string
	Value int
	Doc   string
}

// Enums are the other enums that a libtorch and Go share.
var Enums = []Enum{
	{Name: "status", Doc: "The outcomes of a request: the first word of a reply.", Members: []Member{
		{Name: "OK"},
		{Name: "refused", Doc: "the request is invalid; nothing was called"},
		{Name: "threw", Doc: "the operator threw"},
		{Name: "wrote", Doc: "it threw and changed its arguments: their observations precede the exception"},
	}},
	{Name: "level", Doc: "The levels of observations.", Members: []Member{
		{Name: "off"},
		{Name: "identity"},
		{Name: "contents"},
		{Name: "digests", Doc: "contents without a copy of the bytes"},
		{Name: "metadata", Doc: "contents without their digest either"},
	}},
	{Name: "make", Doc: "The sorts of strided tensors.", Members: []Member{
		{Name: "plain"}, {Name: "inference"}, {Name: "requires grad"},
	}},
	{Name: "flag", Doc: "The bits of a tensor's other properties.", Bits: true, Members: []Member{
		{Name: "conj"}, {Name: "neg"}, {Name: "grad"}, {Name: "leaf"},
		{Name: "unowned", Doc: "the storage does not free its bytes"},
		{Name: "foreign", Doc: "a function other than the allocator's does"},
	}},
	{Name: "touch", Doc: "The sorts of illegal memory accesses.", Members: []Member{
		{Name: "outside", Doc: "before it or behind it"},
		{Name: "freed"},
		{Name: "read only", Doc: "of an argument without (a!)"},
	}},
	{Name: "access", Doc: "The bits of an access.", Bits: true, Members: []Member{{Name: "reads"}, {Name: "writes"}}},
	{Name: "owner", Doc: "The present or former owner of the memory.", Members: []Member{
		{Name: "temporary", Doc: "a tensor made during the call"},
		{Name: "argument"}, {Name: "return"},
		{Name: "earlier", Doc: "a tensor that existed before"},
	}},
}

// Parts are the roles of a tensor inside another, with their names in reports.
var Parts = Enum{Name: "part", Doc: "The roles of a tensor inside another.", Members: []Member{
	{Name: "whole", Doc: "not inside another"},
	{Name: "value", Doc: "of a functional wrapper", Words: "value"},
	{Name: "scales", Doc: "of a tensor quantized by channel, like the next", Words: "scales"},
	{Name: "zero points", Words: "zero_points"},
	{Name: "sizes", Doc: "of a nested tensor, like the next", Words: "sizes"},
	{Name: "strides", Words: "strides"},
	{Name: "indices", Doc: "of a sparse tensor, like those that follow", Words: "indices"},
	{Name: "values", Words: "values"},
	{Name: "compressed indices", Words: "compressed_indices"},
	{Name: "plain indices", Words: "plain_indices"},
}}

// Traits are the bits of an observation's traits.
var Traits = Enum{Name: "trait", Doc: "The bits of an observation's traits.", Bits: true, Members: []Member{
	{Name: "meta", Trait: "MetaTensor"},
	{Name: "functional", Trait: "FunctionalWrapper"},
	{Name: "direct subclass", Trait: "DirectSubclass"},
	{Name: "wrapper subclass", Trait: "WrapperSubclass"},
	{Name: "no version", Trait: "NoVersion"},
	{Name: "reports views", Doc: "set only by the watcher: it requires Python", Trait: "ReportsViews"},
	{Name: "storageless", Doc: "only in the watcher's counts", Trait: "Storageless"},
	{Name: "lazy", Doc: "conj, neg or zero", Trait: "Lazy"},
	{Name: "unread", Doc: "it has bytes that were not read: a subclass's, or on a device that did not copy them",
		Trait: "Unread"},
	{Name: "pending", Doc: "set only by the watcher: work of torch.distributed that was not waited for has the storage",
		Trait: "Pending"},
	{Name: "uncounted result", Doc: "only in the watcher's counts"},
}}

// A Field is a part of a record: bits of a word, a word, or several.
type Field struct {
	Name, Doc string
	Kind      Encoding
	Bits      int  // the number of bits, from the lowest unused one
	Signed    bool // of Packed
}

// An Encoding is the form of a field.
type Encoding uint8

const (
	Word Encoding = iota
	Packed
	List    // a length, and as many words
	Strides // 0, or 1 and as many words as the list before
	Bytes   // a length in bytes, and the bytes, in words
	Text    // like Bytes
)

// Head has the fields that are observed of every tensor.
var Head = []Field{
	{Name: "impl", Doc: "TensorImpl, 0 for an undefined tensor"},
	{Name: "storage", Doc: "StorageImpl, 0 for none"},
	{Name: "impl uses", Kind: Packed, Bits: 32, Signed: true},
	{Name: "storage uses", Kind: Packed, Bits: 32, Signed: true},
	{Name: "version", Kind: Packed, Bits: 32, Signed: true},
	{Name: "traits", Kind: Packed, Bits: 16},
	{Name: "full", Doc: "1 if the contents follow", Kind: Packed, Bits: 8},
	{Name: "last", Doc: "the number of parts that follow, each an observation; in a part, its oa_part",
		Kind: Packed, Bits: 8},
}

// Contents has the fields that the content level adds.
var Contents = []Field{
	{Name: "dtype"},
	{Name: "device type"},
	{Name: "device index"},
	{Name: "offset"},
	{Name: "nbytes", Doc: "of the storage"},
	{Name: "digest", Doc: "of the storage; 0 if it was not read"},
	{Name: "sizes", Kind: List},
	{Name: "strides", Kind: Strides},
	{Name: "bytes", Kind: Bytes, Doc: "a copy of the storage"},
	{Name: "flags", Doc: "oa_flag"},
	{Name: "names", Kind: Text, Doc: "of dimensions"},
	{Name: "layout", Kind: Text},
	{Name: "quantizer", Kind: Text},
	{Name: "grad", Doc: "the TensorImpl of .grad, 0 for none"},
	{Name: "memory", Doc: "the address of the bytes; 0 if unknown, or shared by copy-on-write"},
	{Name: "counter", Doc: "the version counter, 0 for none"},
}

// A Question is a question that the watcher asks.
type Question struct {
	Name, Kind, Doc string
}

var Questions = []Question{
	{"hello", "H", "process, parent, rank, version of libtorch, folder of Python's modules, Python's threads -> settings"},
	{"op", "O", "A if versions are raised later, else -, K and a device if its kernels are not PyTorch's, else -, and " +
		"in the next line the record of an op in the listing of schemas.cpp -> an About, an Expectation, and a Subject " +
		"for each argument and return that holds tensors"},
	{"names", "N", "names of ops that are not PyTorch's own -> nothing"},
	{"call", "C", "an Asked, its texts in words, and the observations of an unusual call -> nothing, or a number"},
	{"site", "S", "that number, who answered, a letter for the sort of frames and the frames, in lines -> nothing, or " +
		"what to raise, or ? and a line of generated code"},
	{"origin", "L", "that line, then file, line and function of each frame that it was generated from -> nothing"},
	{"record", "R", "a Recorded, names of arguments and their values -> nothing"},
	{"fakes", "P", "nothing -> the Python program that calls fakes"},
	{"fake", "F", "the op's number, the number of contexts that it was called in and their numbers, a call in the words " +
		"of fakes.py, a line with those of the same call of its fake, and in lines a letter for the sort of frames and " +
		"those of the call, if known -> nothing"},
	{"backward", "B", "a Come, a letter for the sort of frames and those of the call -> nothing, or what to raise"},
	{"since", "T", "process -> the findings since its last request, as a JSON array"},
	{"not watched", "E", "the reason why a process is not watched -> nothing"},
}

// A Record is a sequence of named words, which one side writes and the other reads.
type Record struct {
	Name, Doc string
	Answer    bool // opassert writes it, and the watcher reads it
	Fields    []Field
}

var Records = []Record{
	{"Settings", "Settings answer a greeting, before the namespaces of PyTorch's own ops and, in lines, parts of the " +
		"paths of its sources.", true, []Field{
		{Name: "content", Doc: "ops whose contents are observed"},
		{Name: "sample", Doc: "of how many calls of PyTorch's own ops one is observed"},
		{Name: "max bytes", Doc: "largest storage that is read"}, {Name: "record", Doc: "calls of each op"},
		{Name: "fakes", Doc: "ops whose fakes are called"},
	}},
	{"About", "About is opassert's answer about an op, before the Expectation of its calls.", true, []Field{
		{Name: "number"}, {Name: "custom", Doc: "the op or its kernel is not PyTorch's"},
		{Name: "watched", Doc: "opassert observes its calls"},
		{Name: "recorded", Doc: "its arguments are recorded in a file of cases"},
		{Name: "followed", Doc: "its results are recorded until a backward reaches them"},
	}},
	{"Expectation", "Expectation is the number of Subjects that follow.", true,
		[]Field{{Name: "args"}, {Name: "returns"}}},
	{"Subject", "A Subject is an argument or a return that holds tensors. Sets are bits by position among these " +
		"arguments or returns.", true, []Field{
		{Name: "index", Doc: "position in the schema"}, {Name: "list", Doc: "a list of tensors"},
		{Name: "write", Doc: "an argument with (a!)"}, {Name: "checks", Doc: "about it"},
		{Name: "bases", Doc: "arguments whose storage a return has"},
		{Name: "selves", Doc: "arguments of which it must be one"},
		{Name: "others", Doc: "arguments that it must not share with"},
		{Name: "peers", Doc: "returns that it must not share with"},
		{Name: "allowed", Doc: "arguments that it may share with"},
	}},
	{"Asked", "Asked is a call, before its texts: modes, the device of a package and that of the call, numbers.",
		false, []Field{
			{Name: "op"}, {Name: "level"}, {Name: "circumstances", Doc: "bits of oa_circumstance"},
			{Name: "texts", Doc: "their bytes; a zero ends each"},
		}},
	{"Recorded", "Recorded identifies a recorded call, before its arguments.", false,
		[]Field{{Name: "op"}, {Name: "call"}}},
	{"Come", "Come is the result of an op without a formula that a program's backward reached.", false, []Field{
		{Name: "op"}, {Name: "result", Doc: "position among the returns that hold tensors"},
		{Name: "backward", Doc: "of oa_backward"},
	}},
	{"Tallies", "Tallies are the counts of an op, before those of traits.", false, []Field{
		{Name: "calls"}, {Name: "usual"}, {Name: "asked"}, {Name: "failed"}, {Name: "unrecorded"},
		{Name: "faked", Doc: "calls that fakes answered, not in the other counts"},
		{Name: "lost", Doc: "calls that freed an argument"},
		{Name: "content", Doc: "of usual and asked, with contents, like the next"},
		{Name: "sampled out"}, {Name: "too large"}, {Name: "subclass"}, {Name: "above autograd"},
		{Name: "kinds", Doc: "of arguments, for each of which the fake is called"},
		{Name: "unwritten", Doc: "calls whose arguments can't be encoded, or have too many kinds"},
		{Name: "differentiated", Doc: "calls with a formula in autograd, and results that a backward reached"},
	}},
}

// WatchEnums are the enums of the watcher.
var WatchEnums = []Enum{
	{Name: "circumstance", Doc: "Further facts about a call.", Bits: true, Members: []Member{
		{Name: "concurrent", Doc: "another thread may have written"},
		{Name: "alone", Doc: "no other thread can hold tensors"},
		{Name: "below", Doc: "below ADInplaceOrView, as in a compiled graph"},
		{Name: "threw", Doc: "the call threw: nothing was returned"},
		{Name: "moved", Doc: "the call changed the current device of the arguments' backend"},
		{Name: "collects", Doc: "the watcher can run Python's collector, and observe the tensors again"},
		{Name: "collected", Doc: "it has"},
	}},
	{Name: "backward", Doc: "The ways in which a backward goes through an op without a formula.", Members: []Member{
		{Name: "ends", Doc: "PyTorch's fallback is called, which warns"},
		{Name: "raises", Doc: "torch.library.custom_op's fallback is called"},
		{Name: "records", Doc: "its kernel calls ops that autograd records"},
	}},
}
