package work

// A callSetup describes how a call is made. All calls of a case have the same arguments, apart
// from it.
type callSetup struct {
	ahead  bool   // in watched memory, tensors come directly after a page without access, otherwise before one
	fill   byte   // the contents of that memory until it is written
	seed   uint64 // added to the seed of the run
	later  int    // added to the turns of usual floating-point values
	beside int    // added to the turns of elements beside tensors in their storages
	reused bool   // in memory of tensors that are gone
	twin   bool   // with twins of its tensors on the CPU
}

// onCPU returns the arrangement with twins of the tensors on the CPU.
func (how callSetup) onCPU() callSetup {
	how.twin = true
	return how
}

// inReused returns the arrangement in memory of tensors that are gone.
func (how callSetup) inReused() callSetup {
	how.reused = true
	return how
}

// withValues returns the arrangement with other default floating-point values, by their offset.
func withValues(later int) callSetup {
	how := firstTime
	how.later = later
	return how
}

const (
	firstFill  = 0x5A
	secondFill = 0xA6
)

var (
	firstTime  = callSetup{fill: firstFill}
	otherFill  = callSetup{fill: secondFill}
	otherSide  = callSetup{fill: secondFill, ahead: true}
	otherSeed  = callSetup{fill: firstFill, seed: 1}
	otherDraw  = callSetup{fill: secondFill, seed: 1}
	neighbours = callSetup{fill: firstFill, beside: 1}
	otherValue = withValues(1)
)
