// Package asserts is the run time of opassert: it observes the calls of a tensor library's kernels, judges them against
// the promises of their schemas, and reports violations. Three kinds of programs use it.
//
// Generated code has an [Op] for each operator and records each call in a [Call];
// [Enabled] and [Generated3] tie it to the build and to this version.
//
// Authors of libraries and of tests implement [Tensor] once, choose a [Level], a
// [Reporter] and a [Policy], and use [NewT] or [Main] in tests, as described below.
//
// Authors of tools and engines fill in a [Seen], and [Judge] returns a [Verdict];
// package suite/compare judges two calls. [Op.Plan] lists the checks of an op, [AllCodes] yields all checks,
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
// An [ID] identifies an object for as long as a call is judged: the simplest is a serial number from [NewID], stored in
// the object. A library without reference counts sets [NotCounted]; then results that are referenced elsewhere are not
// found, which is counted as a skip, but those that share with an argument or with another result are. A library with
// counts fills in ImplUses and StorageUses, and declares with maker.Release how a tensor is released: then references
// that a kernel keeps, or releases too often, are found. [Counter] reads counts that a library does not export. The
// digest of a [Snapshot] covers the whole storage, so that it changes with a write beside a view.
//
// A tensor over several storages, such as values and a validity bitmap, has one of
// them as its own, and observes the others as parts:
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
// Without the build tag opassert ([Enabled] is false) a wrapper is the bare call. With it, the [Level] decides:
//
//   - Identity compares pointers and counts. The record is on the wrapper's stack:
//     nothing is allocated, and a tensor costs some nanoseconds.
//   - Content compares bytes and metadata as well. It reads every byte of every
//     argument twice; with [ObserveSlice] or [ReadSlice] it allocates nothing. The
//     first calls of each op wait some milliseconds and observe their tensors again,
//     since kernels may continue in the background, and once more around the op's next
//     call, which may write arguments of earlier calls. A storage that calls of two
//     goroutines use at the same time is a counted skip if both observe it through
//     [Observation.Look]; otherwise the arguments must not be written meanwhile. The
//     storages of a call whose kernel panicked are skipped on other goroutines.
//   - Off costs the wrapper's own frame.
//
// Most calls look usual, and do not need the judge; [Judge] itself is a function of
// plain values, which a log or another engine can supply.
//
// # OPASSERT
//
// The environment variable is a list of options separated by commas. If it is invalid,
// the first checked call panics with a message that lists the valid options.
//
//	panic             panic at the first violation (the default)
//	log               write each new violation to standard error, and continue
//	collect           collect them until the tests are done, see Main
//	off               check nothing
//	level=content     the level: content is the default of tests, identity of other programs
//	sample=0.1        check this share of the calls of each op
//	policy=pytorch    the skip policy; aware is the default
//
// go test shows the output of a test only if it fails, so under log and collect [Main] makes the package's tests fail.
// In a test without Main they panic, and in other programs collect is log.
//
// Code can override these options: with [SetReporter], [SetLevel], [SetSample] and [SetPolicy] for the process, and
// with [WithReporter], [WithLevel] and [WithPolicy] for the calls that a context is passed to.
//
// # Reporters
//
// A [Violation] is an error. [Panic], [Log] and [Collector] are reporters, and so is
// any other type with a Report method. In tests,
//
//	asserts.NewT(t)
//
// makes them failures of that test, at the line that called the wrapper; see [NewT] for the goroutines that belong to a
// test. [Main] prints the [Summary] of a package's tests under OPASSERT=collect. Package asserts/report writes the
// lines of a report, which are [Result] values, as text, JSON, JUnit XML and SARIF.
//
// # Skips
//
// Some tensors and modes make a check meaningless: a tensor without storage cannot keep it, a mode that logs results
// holds references to them. A [Policy] lists the checks to skip for each trait and mode; [Aware] skips as few as
// possible, [PyTorch] the same as PyTorch's own asserts. A mode declares the checks that it invalidates, with
// [EnterMode] or [WithMode]. The summary counts every skip by check and reason.
package asserts
