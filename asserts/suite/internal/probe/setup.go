package probe

// A Setup describes how a call is made. All calls of a case have the same arguments, apart from it.
type Setup struct {
	GuardBefore   bool   // in watched memory, tensors come directly after a page without access, otherwise before one
	Fill          byte   // the contents of that memory until it is written
	Seed          uint64 // added to the seed of the run
	ValueSeed     int    // added to the turns of usual floating-point values
	NeighbourSeed int    // added to the turns of elements beside tensors in their storages
	Reused        bool   // in memory of tensors that are gone
	Twin          bool   // with twins of its tensors on the CPU
	Threads       bool   // with two threads
}

// OnCPU returns the setup with twins of the tensors on the CPU.
func (how Setup) OnCPU() Setup {
	how.Twin = true
	return how
}

// InReused returns the setup in memory of tensors that are gone.
func (how Setup) InReused() Setup {
	how.Reused = true
	return how
}

// WithValues returns the setup with other usual floating-point values, by their offset.
func WithValues(offset int) Setup {
	how := First
	how.ValueSeed = offset
	return how
}

const (
	firstFill  = 0x5A
	secondFill = 0xA6
)

// The setups of calls, of which the first is that of each call.
var (
	First      = Setup{Fill: firstFill}
	OtherFill  = Setup{Fill: secondFill}
	OtherSide  = Setup{Fill: secondFill, GuardBefore: true}
	OtherDraw  = Setup{Fill: secondFill, Seed: 1}
	OtherValue = WithValues(1)

	otherSeed  = Setup{Fill: firstFill, Seed: 1}
	neighbours = Setup{Fill: firstFill, NeighbourSeed: 1}
	twoThreads = Setup{Fill: firstFill, Threads: true}
)
