package asserts

// A Promise is a kind of promise of a schema. Each check is about one.
type Promise uint8

const (
	Objects  Promise = iota // arguments and (a!) returns are the objects that were passed
	Fresh                   // a return that is not a view is new, without other references
	Aliases                 // storages are shared as the alias sets declare
	Writes                  // writes are declared, and observable
	Kernels                 // the kernels of one op, and its schema, agree
	Memory                  // kernels access only memory of their own
	promises                // the number of promises
)

var promiseWords = [promises]struct{ name, rule string }{
	Objects: {"objects", "an argument stays the TensorImpl and StorageImpl that was passed, and a return marked (a!) is " +
		"that argument"},
	Fresh:   {"fresh", "a return without an alias set is new, and the call leaves no reference behind"},
	Aliases: {"aliases", "storages are shared if the alias sets declare it, and only then"},
	Writes:  {"writes", "only an argument marked (a!) changes: its elements alone, in its shape, with its version"},
	Kernels: {"kernels", "the kernels for Meta and autograd agree with the one that runs, and the schema with itself"},
	Memory:  {"memory", "kernels keep to the memory of their tensors, and write all that they return"},
}

// Promises returns every kind of promise, in the order of reports.
func Promises() []Promise {
	all := make([]Promise, promises)
	for i := range all {
		all[i] = Promise(i)
	}
	return all
}

// String returns the promise's name: "aliases".
func (p Promise) String() string { return promiseWords[p].name }

// Rule returns the promise in one sentence.
func (p Promise) Rule() string { return promiseWords[p].rule }

// Promise returns the kind of promise that the check verifies.
func (c Code) Promise() Promise { return c.check().promise }
