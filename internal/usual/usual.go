// Package usual has the facts that make the observations of a call usual. The row of each check lists the facts under
// which it has nothing to report or skip. They make the fast path of wrappers and the watcher's.
package usual

// Facts is a set of facts about one subject of a call.
type Facts uint32

const (
	// Of an argument, before the call and after it.
	SameImpl     Facts = 1 << iota // the TensorImpl is the same
	SameStorage                    // the StorageImpl is the same
	SameVersion                    // the version is the same
	SameContents                   // bytes and metadata are the same
	SameMetadata                   // metadata are the same
	Counted                        // bytes and metadata are the same, or the version rose
	Filled                         // bytes and metadata are the same, or the elements fill the storage
	NotKept                        // use counts did not rise
	Unshared                       // no argument with (a!) has its storage or its memory
	Unreturned                     // no return that is another tensor has its storage or its memory

	// Of a return.
	OneHolder     // it is not an argument, and its TensorImpl has one reference
	OwnStorage    // its StorageImpl has one reference, and owns its memory
	IsArgument    // it is the argument that it is compared with
	OnArgument    // it has the storage of the argument that it is compared with
	OffArguments  // it shares nothing with the arguments that it is compared with
	OffReturns    // it shares nothing with the returns that it is compared with
	WithinStorage // its elements lie in its storage

	Asked // no call has it: each goes to the judge
)

// Has reports whether the set has all of the given facts.
func (f Facts) Has(facts Facts) bool { return f&facts == facts }

// names are the names in the generated header, in order.
var names = []string{
	"same_impl", "same_storage", "same_version", "same_contents", "same_metadata", "counted", "filled", "not_kept",
	"unshared", "unreturned", "one_holder", "own_storage", "is_argument", "on_argument", "off_arguments",
	"off_returns", "within_storage",
}

// All returns each fact with its name.
func All() map[string]Facts {
	all := make(map[string]Facts)
	for i, name := range names {
		all[name] = 1 << i
	}
	return all
}
