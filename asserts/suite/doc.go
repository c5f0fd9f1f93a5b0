// Package suite runs many ops and checks every call against the promises of its
// schema.
//
//	internal/design ──► internal/sample ──► internal/work ──► suite ──► report
//	  which calls         a call as data     made and judged   workers    written
//
// Case N of an op is a function of the schema, the seed and N, and of the op's
// own errors on the way; so the number alone runs it again. A [Run]
// sends cases to worker processes, each of which calls [Serve]: a crash, a hang
// or running out of memory is a result of its own and does not affect other
// cases. No line of a worker is believed that a kernel may have written, what
// kernels start ends with their worker, and workers end when their run is gone,
// however it ended: .ci/hardship puts that to the test. [Check] runs cases in the caller's process.
//
// An [engine.Engine] runs the kernels, and an [engine.Plan] says what they are held
// against; both are handed in. The suite knows no library: the packages
// internal/torch and internal/c10/engine have one each.
package suite
