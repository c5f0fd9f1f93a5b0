package work

// An arrangement says how a call is made. All calls of a case have the same arguments, except as it says.
type arrangement struct {
	ahead  bool   // in memory that is watched, tensors lie behind a page that can't be touched, else before one
	fill   byte   // what that memory holds until it is written
	seed   uint64 // added to that of the run
	later  int    // turns by which usual values of floating point are later
	beside int    // turns by which the elements are later that lie beside tensors in their storages
	twin   bool   // with twins of its tensors on the CPU
}

// onCPU returns the arrangement with twins of the tensors on the CPU.
func (how arrangement) onCPU() arrangement {
	how.twin = true
	return how
}

const (
	firstFill  = 0x5A
	secondFill = 0xA6
)

var (
	firstTime  = arrangement{fill: firstFill}
	otherFill  = arrangement{fill: secondFill}
	otherSide  = arrangement{fill: secondFill, ahead: true}
	otherSeed  = arrangement{fill: firstFill, seed: 1}
	otherDraw  = arrangement{fill: secondFill, seed: 1}
	neighbours = arrangement{fill: firstFill, beside: 1}
	otherValue = arrangement{fill: firstFill, later: 1}
)
