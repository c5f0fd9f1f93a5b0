package asserts

// An Op is one operator overload with the checks that its schema calls for,
// as plain data. The generator writes it down; the libtorch engine builds it
// from the live schema. An Op must not change once a call has been judged.
type Op struct {
	Name    string    // "aten::add.Tensor"
	Schema  string    // "add.Tensor(Tensor self, ...) -> Tensor"
	Args    []Subject // the arguments that hold tensors, in schema order
	Results []Subject // the returns that hold tensors
	Checks  []Check

	plan *plan // made at the first call; see resolve
}

// A Subject is an argument or a return that holds tensors.
type Subject struct {
	Index int    // position among all arguments, or all returns, of the schema
	Name  string // "self"; a return's is "result", or "result0", ... unless the schema names it
	Type  string // as the schema writes it, alias annotation included: "Tensor(a!)[]"
	List  bool   // any number of tensors rather than one
	Write bool   // annotated (a!)
	// Inside says that these are the tensors inside the ones of that index, as
	// the indices and values of a sparse tensor are: no schema speaks of them.
	Inside bool
}

// A Check is one line of a plan: a code, the subject that it is about, and
// for checks about a pair the subject that it is held against.
//
// OA001, OA002, OA009 and OA010 are about an argument; OA003 and OA005 about
// a return; OA004, OA006 and OA007 about a return, against an argument; OA008
// about a return, against a return, or against itself for the elements of a
// list; OA011 about a return, or else an argument, of that name.
type Check struct {
	Code    Code
	On      string // a Subject's name
	Against string // a Subject's name, or "" for checks about one subject
}
