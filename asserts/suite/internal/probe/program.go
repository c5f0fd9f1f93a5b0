package probe

import "github.com/opassert/opassert/asserts"

// A Program is how a program shows a fault. The call is made several times, with different bytes in turn.
type Program struct {
	Heap   bool   // the byte is in memory that is allocated, or was freed
	Left   bool   // it is in the memory of arguments of earlier calls
	Apart  bool   // each call is made in a new process
	Often  bool   // the call is made many times
	Seed   string // a Python expression, the seed of the default generator, or "" for 0
	Before string // a Python statement between the arguments, {held}, and the {call}, or ""
	Fault  string // a Python expression that is true if the rule is violated
	Cpp    string // the same in C++, or ""
	Says   string // the fault
}

// Follows is true if results depend on the byte, and on nothing else.
const Follows = "seen[0] == seen[3] != seen[1] == seen[2]"

// ProgramOf returns the program of the probe that finds a violation, or that of its code.
func ProgramOf(code asserts.Code, symptom asserts.Symptom) Program {
	var program Program
	for _, r := range rows {
		switch {
		case r.Fault.Code != code || r.Program == nil:
		case r.Fault.Symptom == symptom:
			return *r.Program
		case r.Fault.Symptom == "":
			program = *r.Program
		}
	}
	return program
}
