// Package suite runs many ops and checks every call against the promises of its schema.
//
//	internal/design ──► internal/sample ──► internal/work ──► suite ──► report
//	  which calls         a call as data     made and judged   workers    written
//
// Case N of an op depends only on the schema, the seed and N, and on the op's own errors before it; so its number is
// enough to repeat it. A [Run] sends cases to worker processes, each of which calls [Serve]: a crash, a hang or running
// out of memory is a result and does not affect other cases. Lines that a kernel may have written are not accepted from
// a worker, processes that kernels start end with their worker, and workers end with their run, however it ends:
// .ci/hardship tests that. [Check] runs cases in the caller's process.
//
// The caller provides an [engine.Engine], which runs the kernels, and an
// [engine.Checks], the checks of their ops. The suite does not depend on a library:
// the packages cmd/opassert/internal/torch and internal/testbed/engine provide one each.
package suite
