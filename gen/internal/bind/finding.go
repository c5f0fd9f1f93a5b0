package bind

// A FindingKind is a kind of problem that opassert vet reports. Codes are stable and never reused.
type FindingKind struct{ Code, Name, Rule string }

// Findings are all kinds of finding.
var Findings = []*FindingKind{AroundWrapper, HiddenKernel, UnreadMark, ParameterOrder, StaleWrapper, UnreadField}

var (
	AroundWrapper = &FindingKind{"OA201", "around-wrapper",
		"a kernel is called through its generated wrapper, which checks the call"}
	HiddenKernel = &FindingKind{"OA202", "hidden-kernel",
		"no object is converted to an interface that bypasses the wrappers of its kernels"}
	UnreadMark = &FindingKind{"OA203", "unread-mark",
		"a comment that looks like a mark is one, and the function can have it"}
	ParameterOrder = &FindingKind{"OA204", "parameter-order",
		"the names of a kernel's parameters do not contradict the order of the schema's arguments"}
	StaleWrapper = &FindingKind{"OA205", "stale-wrapper",
		"generated files match the marks and the schema file"}
	UnreadField = &FindingKind{"OA206", "unread-field",
		"Observe reads each slice, map and pointer of its tensor, or a comment explains which it leaves out"}
)

// ParseFinding returns the kind of finding with a code or name, or nil.
func ParseFinding(text string) *FindingKind {
	for _, f := range Findings {
		if text == f.Code || text == f.Name {
			return f
		}
	}
	return nil
}
