package bind

// A Finding is a kind of problem that opassert vet reports. Codes are stable and
// never reused.
type Finding struct{ Code, Name, Rule string }

// Findings are all kinds of finding.
var Findings = []*Finding{AroundWrapper, HiddenKernel, UnreadMark, ParameterOrder, StaleWrapper}

var (
	AroundWrapper  = &Finding{"OA201", "around-wrapper", "a kernel is called through its generated wrapper, which checks the call"}
	HiddenKernel   = &Finding{"OA202", "hidden-kernel", "no object is converted to an interface that bypasses the wrappers of its kernels"}
	UnreadMark     = &Finding{"OA203", "unread-mark", "a comment that looks like a mark is one, and the function can have it"}
	ParameterOrder = &Finding{"OA204", "parameter-order", "the names of a kernel's parameters do not contradict the order of the schema's arguments"}
	StaleWrapper   = &Finding{"OA205", "stale-wrapper", "generated files match the marks and the schema file"}
)

// ParseFinding returns the kind of finding with a code or name, or nil.
func ParseFinding(text string) *Finding {
	for _, f := range Findings {
		if text == f.Code || text == f.Name {
			return f
		}
	}
	return nil
}

// findingNames returns the codes and names of all kinds.
func findingNames() (names []string) {
	for _, f := range Findings {
		names = append(names, f.Code, f.Name)
	}
	return names
}
