// Package asserts is the run time of opassert: it observes the calls of a tensor
// library's kernels, judges them against the promises of their schemas, and reports
// violations. Three kinds of programs use it.
//
// Generated code has an [Op] for each operator and makes a [Call] of each call;
// [Enabled] and [Generated2] hold it to the build and to this version. It alone
// needs these.
//
// Authors of libraries and of tests implement [Tensor] once, choose a [Level], a
// [Reporter] and a [Policy], and use [NewT] or [Main] in tests: the sections
// below.
//
// Writers of tools and engines fill in a [Seen] and ask [Judge] or [JudgeMeta]
// for a [Verdict]. [Op.Plan] lists the checks of an op, [AllCodes] yields all checks,
// and a [Code] describes one. A [Result] is a line of any report.
//
// # A library's part
//
// The library's tensor type implements [Tensor]: one method that fills in an
// [Observation], where the zero value is an undefined tensor.
//
//	func (t *Tensor) Observe(o *asserts.Observation, level asserts.Level) {
//		if t == nil {
//			return
//		}
//		o.Impl, o.ImplUses = t.id, asserts.NotCounted
//		o.Storage, o.StorageUses = t.buffer.id, asserts.NotCounted
//		if level >= asserts.Content {
//			o.Look(func() { o.Version, o.Content = t.version, t.content() })
//		}
//	}
//
// An [ID] identifies an object for as long as a call is judged: the simplest is a
// serial number from [NewID], stored in the object. A library without reference
// counts sets [NotCounted]; then a result that is still referenced elsewhere is not
// found, which is counted as a skip, and one that shares with an argument or with
// another result is found all the same. A library with counts of its own fills in
// ImplUses and StorageUses from them, and declares with maker.Release how a tensor is
// released: then references that a kernel retains, or releases too often, are found.
// [Counter] reads counts that a library does not export. The digest of a [Snapshot]
// covers the whole storage, so that a write beside a view is a write too.
//
// A tensor over several storages, such as values and a bitmap of those that are valid,
// has one of them as its own, and observes each other one as a part:
//
//	valid := o.Inside("validity", t.bitmap, level) // a Tensor too
//	if level >= asserts.Content {
//		o.Look(func() { o.Content = t.content() })
//	}
//	o.With(valid)
//
// Its name in reports is self.parts.validity. The module in testdata/arrow does both.
//
// # The cost of a call
//
// Without the build tag opassert ([Enabled] is false) a wrapper is the bare
// call. With it, the [Level] decides:
//
//   - Identity compares pointers and counts. The record is on the wrapper's
//     stack: nothing is allocated, and a tensor costs some
//     nanoseconds.
//   - Content compares bytes and metadata as well. It reads
//     every byte of every argument twice; through [ObserveSlice] or [ReadSlice] it
//     allocates nothing. The first calls of each op wait some
//     milliseconds and look again, as kernels may go on in the background, and
//     keep what they saw until the next call of the op: a kernel may write what it
//     was given earlier.
//     What calls of two goroutines hold at one time, if both go through [Observation.Look],
//     is a counted skip; nothing else may write the arguments meanwhile. A
//     kernel that panics keeps what its call held from other goroutines.
//   - Off costs the wrapper's own frame.
//
// A call that looks usual is recognised without the judge; [Judge] itself is a
// function of plain values, which a log or another engine fills in as well.
//
// # OPASSERT
//
// The environment variable has options separated by commas. With an invalid value the
// first checked call panics with a message that lists the valid ones.
//
//	panic             panic at the first violation (the default)
//	log               write each new violation to standard error, and continue
//	collect           collect them until the tests are done; see Main
//	off               check nothing
//	level=content     the level: content is the default of tests, identity of other programs
//	sample=0.1        check this share of the calls of each op
//	policy=pytorch    the skip policy; aware is the default
//
// go test shows the output of a test only if it fails, so under log and collect [Main]
// makes the package's tests fail. In a test without Main they panic, and outside tests
// collect is log.
//
// Code may set the same, later and so with precedence: [SetReporter],
// [SetLevel], [SetSample], [SetPolicy] for the process, and [WithReporter],
// [WithLevel], [WithPolicy] for the calls that a context reaches.
//
// # Where violations go
//
// A [Violation] is an error. [Panic], [Log] and [Collector] are reporters;
// any other type with a Report method will do. In tests,
//
//	asserts.NewT(t)
//
// makes them failures of that test, at the line that called the wrapper; see
// [NewT] for which goroutines belong to a test. [Main] prints the [Summary] of
// a package's tests under OPASSERT=collect. A [Result] is one line of any of
// these, and [WriteText], [WriteJSON], [WriteJUnit] and [WriteSARIF] write it.
//
// # Skips
//
// Some tensors and some modes make a check meaningless: a tensor without storage has
// none to keep, a mode that logs results holds references to them. A [Policy] lists
// the checks that are skipped for each trait and mode; [Aware] skips no more than it
// must, [PyTorch] skips the same as PyTorch's own asserts. A subclass or a mode
// declares the checks that it invalidates with [RegisterSubclass], [EnterMode] or
// [WithMode]. Every skip is counted by check and reason and is in the summary.
package asserts
