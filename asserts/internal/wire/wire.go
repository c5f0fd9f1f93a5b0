// Package wire describes once what C++ and Go say to each other: numbers with
// names, and the words of which records are made. Headers for C++ and readers for
// Go are generated from it.
package wire

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

//go:generate go run ./regen

// An Enum is numbers with names: oa_tag in C, tag in Go. The first is 0, or bit 0.
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

// Tags say how a value is written down, in requests and in replies.
var Tags = Enum{Name: "tag", Doc: "The encodings of values, in requests and in replies.", Members: []Member{
	{"none", "in a request: the index that a tensor there would have, or oa_no_tensor. In a reply: -", "None", ""},
	{"default", "- the schema's default; in requests only", "the default", ""},
	{"tensor", "in a request: the index among its tensors. In a reply: TensorImpl, owned by the receiver; 0 undefined", "a tensor", ""},
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
	{"new", "the class, bytes and words, the number of arguments, and these: an object of a custom class", "a new object", ""},
	{"same", "the number of an earlier argument", "another argument", ""},
}}

// Functions are those of entry.h.
var Functions = []string{
	"start", "schemas", "load", "device", "call", "observe", "bytes", "strided", "wrap", "mark", "meta", "generator", "storage", "seed", "threads", "memory", "fill", "left",
}

// Numbers that stand alone.
var Numbers = []Number{
	{"header words", 3, "A reply starts with its status, its length in words, and the address of the words that did not fit, 0 for none. One that is not OK goes on with two strings: the type of the exception and its message."},
	{"uncounted", int(asserts.NotCounted), "A use count that is not known."},
	{"no tensor", -1, "The index of a tensor that a request does not hold."},
	{"no dtype", -1, "The dtype of a tensor whose elements are of none."},
	{"no index", -1, "The index of a device that is the current one of its type."},
	{"addressed", tensor.Addressed, "A bit for each type of devices whose pointers are addresses: Metal's are those of objects."},
}

// A Number is a constant.
type Number struct {
	Name  string
	Value int
	Doc   string
}

// Enums are the others that a libtorch and Go share.
var Enums = []Enum{
	{Name: "status", Doc: "The outcomes of a request: the first word of a reply.", Members: []Member{
		{Name: "OK"},
		{Name: "refused", Doc: "the request is wrong; nothing was called"},
		{Name: "threw", Doc: "the operator threw"},
		{Name: "wrote", Doc: "it threw, and its arguments are not as they were: their observations go before the exception"},
	}},
	{Name: "level", Doc: "The levels at which a tensor is seen.", Members: []Member{
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
		{Name: "foreign", Doc: "it does by a function that is not the allocator's"},
	}},
	{Name: "touch", Doc: "The ways in which a kernel touched memory that it may not.", Members: []Member{
		{Name: "outside", Doc: "before it or behind it"},
		{Name: "freed"},
		{Name: "read only", Doc: "of an argument that the schema has no write of"},
	}},
	{Name: "access", Doc: "The bits of how it touched them.", Bits: true, Members: []Member{{Name: "reads"}, {Name: "writes"}}},
	{Name: "owner", Doc: "Whose the memory is, or was.", Members: []Member{
		{Name: "temporary", Doc: "of a tensor that the call made"},
		{Name: "argument"}, {Name: "return"},
		{Name: "earlier", Doc: "of one that was there before"},
	}},
}

// Parts are the roles of a tensor inside another, with their names in reports.
var Parts = Enum{Name: "part", Doc: "The roles of a tensor inside another.", Members: []Member{
	{Name: "whole", Doc: "it is not inside"},
	{Name: "value", Doc: "of a functional wrapper", Words: "value"},
	{Name: "scales", Doc: "of a tensor quantized by channel, as the next", Words: "scales"},
	{Name: "zero points", Words: "zero_points"},
	{Name: "sizes", Doc: "of a nested tensor, as the next", Words: "sizes"},
	{Name: "strides", Words: "strides"},
	{Name: "indices", Doc: "of a sparse tensor, as those that follow", Words: "indices"},
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
	{Name: "reports views", Doc: "set by the watcher alone: it takes Python to know", Trait: "ReportsViews"},
	{Name: "storageless", Doc: "of the watcher's counts alone", Trait: "Storageless"},
	{Name: "lazy", Doc: "conj, neg or zero", Trait: "Lazy"},
	{Name: "unread", Doc: "there are bytes, and they were not read: a subclass's own, or not copied by a device", Trait: "Unread"},
	{Name: "uncounted result", Doc: "of the watcher's counts alone"},
}}

// A Field is a part of a record: bits of a word, a word, or several.
type Field struct {
	Name, Doc string
	Kind      Encoding
	Bits      int  // of Packed: how many, from the lowest that is free
	Signed    bool // of Packed
}

// An Encoding is how a field is written.
type Encoding uint8

const (
	Word Encoding = iota
	Packed
	List    // a length, and so many words
	Strides // 0, or 1 and as many words as the list before
	Bytes   // a length in bytes, and the bytes, in words
	Text    // the same
)

// Head holds the fields that are observed of every tensor.
var Head = []Field{
	{Name: "impl", Doc: "TensorImpl, 0 for an undefined tensor"},
	{Name: "storage", Doc: "StorageImpl, 0 for none"},
	{Name: "impl uses", Kind: Packed, Bits: 32, Signed: true},
	{Name: "storage uses", Kind: Packed, Bits: 32, Signed: true},
	{Name: "version", Kind: Packed, Bits: 32, Signed: true},
	{Name: "traits", Kind: Packed, Bits: 16},
	{Name: "full", Doc: "whether the contents follow", Kind: Packed, Bits: 8},
	{Name: "last", Doc: "how many parts follow, each an observation; of a part itself, an oa_part", Kind: Packed, Bits: 8},
}

// Contents holds the fields that the content level adds.
var Contents = []Field{
	{Name: "dtype"},
	{Name: "device type"},
	{Name: "device index"},
	{Name: "offset"},
	{Name: "nbytes", Doc: "of the storage"},
	{Name: "digest", Doc: "of the storage; 0 where it was not read"},
	{Name: "sizes", Kind: List},
	{Name: "strides", Kind: Strides},
	{Name: "bytes", Kind: Bytes, Doc: "a copy of the storage"},
	{Name: "flags", Doc: "oa_flag"},
	{Name: "names", Kind: Text, Doc: "of dimensions"},
	{Name: "layout", Kind: Text},
	{Name: "quantizer", Kind: Text},
	{Name: "grad", Doc: "the TensorImpl of .grad, 0 for none"},
	{Name: "memory", Doc: "where the bytes are; 0 where that is not known, or shared by copy-on-write"},
	{Name: "counter", Doc: "the version counter, 0 for none"},
}

// A Frame is a question of the watcher's.
type Frame struct {
	Name string
	Kind string
	Doc  string
}

var Frames = []Frame{
	{"hello", "H", "process, parent, rank, version of libtorch, folder of Python's modules, Python's threads -> settings"},
	{"op", "O", "A where versions are raised later, else -, and the record of an op in the listing of schemas.cpp -> an About, an Expectation, and a Subject for each argument and return that holds tensors"},
	{"names", "N", "names of ops that are not PyTorch's own -> nothing"},
	{"call", "C", "an Asked, the modes in words, and the observations of a call that does not look usual -> nothing, or a number"},
	{"site", "S", "that number, who answered, a letter for the sort of frames and the frames, in lines -> nothing, or what to raise, or ? and a line of generated code"},
	{"origin", "L", "that line, then file, line and function of each frame that it comes from -> nothing"},
	{"record", "R", "a Recorded, names of arguments and their values -> nothing"},
	{"fakes", "P", "nothing -> the program of Python's that calls fakes"},
	{"fake", "F", "the op's number, how many contexts it was called in and their numbers, a call in the words of fakes.py, a line with those of the same call of its fake, and in lines a letter for the sort of frames and those of the call, where they are known -> nothing"},
	{"backward", "B", "a Come, a letter for the sort of frames and those of the call -> nothing, or what to raise"},
	{"since", "T", "process -> the findings since it asked last, as a JSON array"},
	{"not watched", "E", "why a process is not watched -> nothing"},
}

// A Record is words with names, which one side writes and the other reads.
type Record struct {
	Name, Doc string
	Answer    bool // opassert writes it, and the watcher reads it
	Fields    []Field
}

var Records = []Record{
	{"Settings", "Settings are the answer to a greeting, before the namespaces of PyTorch's own ops.", true, []Field{
		{Name: "content", Doc: "of which ops contents are looked at"}, {Name: "sample", Doc: "of so many calls of PyTorch's own ops, one"},
		{Name: "max bytes", Doc: "of a storage that is read"}, {Name: "record", Doc: "calls of each op"},
		{Name: "fakes", Doc: "of which ops fakes are called"},
	}},
	{"About", "About is opassert's answer about an op, before the Expectation of its calls.", true, []Field{
		{Name: "number"}, {Name: "custom", Doc: "of a namespace that is not PyTorch's"}, {Name: "watched", Doc: "opassert wants to know of its calls"},
		{Name: "recorded", Doc: "its arguments go into a file of cases"},
		{Name: "followed", Doc: "its results are, until a backward comes there"},
	}},
	{"Expectation", "Expectation is how many Subjects follow.", true, []Field{{Name: "args"}, {Name: "returns"}}},
	{"Subject", "A Subject is an argument or a return that holds tensors. The sets are bits by position among the arguments, or returns, that do.", true, []Field{
		{Name: "index", Doc: "position in the schema"}, {Name: "list", Doc: "it is a list of tensors"},
		{Name: "write", Doc: "it is an argument with (a!)"}, {Name: "checks", Doc: "about it"},
		{Name: "bases", Doc: "arguments whose storage a return has"}, {Name: "selves", Doc: "arguments one of which it is"},
		{Name: "others", Doc: "arguments that it shares nothing with"}, {Name: "peers", Doc: "returns that it shares nothing with"},
		{Name: "allowed", Doc: "arguments that it may share with"},
	}},
	{"Asked", "Asked describes a call, before its modes.", false, []Field{
		{Name: "op"}, {Name: "level"}, {Name: "circumstances", Doc: "bits of oa_circumstance"}, {Name: "modes", Doc: "bytes of their text"},
		{Name: "device", Doc: "bytes of the name of the device that a package brings, which is behind the modes"},
	}},
	{"Recorded", "Recorded is which call was recorded, before its arguments.", false, []Field{{Name: "op"}, {Name: "call"}}},
	{"Come", "Come is the result of an op without a formula that a program's backward came to.", false, []Field{
		{Name: "op"}, {Name: "result", Doc: "position among the returns that hold tensors"}, {Name: "backward", Doc: "of oa_backward"},
	}},
	{"Tallies", "Tallies are the counts of an op, before those of traits.", false, []Field{
		{Name: "calls"}, {Name: "usual"}, {Name: "asked"}, {Name: "failed"}, {Name: "unrecorded"},
		{Name: "faked", Doc: "calls that fakes answered, among none of the others"},
		{Name: "lost", Doc: "calls of which an argument was freed during the call"},
		{Name: "content", Doc: "of usual and asked, where contents are wanted, as the next"},
		{Name: "sampled out"}, {Name: "too large"}, {Name: "subclass"}, {Name: "above autograd"},
		{Name: "kinds", Doc: "of arguments, on each of which the fake is to be called"}, {Name: "unwritten", Doc: "calls whose arguments can't be encoded, or are of too many kinds"},
		{Name: "differentiated", Doc: "calls that autograd has a formula for, and results that a backward came to"},
	}},
}

// WatchEnums are the watcher's.
var WatchEnums = []Enum{
	{Name: "circumstance", Doc: "Further facts about a call.", Bits: true, Members: []Member{
		{Name: "concurrent", Doc: "another thread may have written"}, {Name: "alone", Doc: "no other thread can hold tensors"},
		{Name: "below", Doc: "below ADInplaceOrView, as in a compiled graph"},
		{Name: "threw", Doc: "the call threw: nothing was returned"},
		{Name: "moved", Doc: "the current device of the arguments' backend is another than before"},
	}},
	{Name: "backward", Doc: "The ways in which a backward goes through an op without a formula.", Members: []Member{
		{Name: "ends", Doc: "PyTorch's fallback is there, which warns"}, {Name: "raises", Doc: "torch.library.custom_op's is there"},
		{Name: "records", Doc: "its kernel calls ops that autograd records"},
	}},
}
