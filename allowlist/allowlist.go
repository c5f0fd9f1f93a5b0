// Package allowlist reads the exceptions to the checks: which op may break which rule, and why. An exception without a
// reason is refused, an unused one is reported.
//
// A list is YAML, a sequence of entries:
//
//	# every overload of rrelu_with_noise, on CUDA, up to 2.5
//	- op: rrelu_with_noise
//	  checks: [OA009]
//	  reason: noise is written in training mode; the schema lacks (a!)
//	  reference: https://github.com/pytorch/pytorch/issues/...
//	  device: cuda
//	  versions: ">=1.13, <2.6"
//	  expires: 2027-06-30
//
// op is a name without overload, for all its overloads ("add", not "add_"), or a name with one ("add.out"), with a
// namespace or without. checks lists codes or names, "OA009", or single symptoms, "OA009/state", or is the word all. An
// op is allowed to crash with crash instead of checks, or in addition to them:
//
//   - op: ns::divides
//     crash: SIGFPE
//     reason: a size of 0 is divided by; fixed in 1.2
//
// device is a type of devices, or a device, "openreg:1", of PyTorch or a package;
// privateuseone is every type that a package brings.
//
// With level: note, violations of the checks are reported as notes, which are not errors, rather than left out.
//
// op, reason, and checks or crash are required.
package allowlist

import (
	"go/token"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A List is an allowlist as read from one file or preset.
type List struct {
	Path    string
	Entries []*Entry
}

// An Entry excuses an op from some checks.
type Entry struct {
	Pos       token.Position
	Op        string // "add": every overload; "add.out": that one
	Checks    asserts.Codes
	Symptoms  []asserts.Excuse // of other checks, without reasons
	Note      bool             // violations are reported as notes
	Crashes   []string         // causes of crashes that are allowed: "SIGFPE", "hang"
	Reason    string
	Reference string    // a link, or ""
	Device    string    // "cuda" for a type, "cuda:1" for one, "privateuseone" for all that packages bring, "" for each
	Versions  Range     // of PyTorch, or of the library under test
	Expires   time.Time // the last valid day; zero for no end
}

// Where describes where an op runs, for entries that depend on it. An empty field is unknown, and
// entries with a condition on it do not apply.
type Where struct {
	Device  string
	Version string
	Day     time.Time // today; zero ignores expiry
}

// About returns the entries about the op.
func (l *List) About(op *schema.Op) []*Entry {
	if len(l.Entries) == 0 {
		return nil
	}
	names := Names(op)
	return slices.DeleteFunc(slices.Clone(l.Entries), func(e *Entry) bool { return !slices.Contains(names, e.Op) })
}

// Names returns the names that an entry may have for an op: with overload or without, and with namespace or without.
func Names(op *schema.Op) []string {
	full := op.Func.Name
	base := full
	base.Overload = ""
	return []string{full.String(), base.String(), op.Namespace + "::" + full.String(), op.Namespace + "::" + base.String()}
}

// ExcusesCrash reports whether the entry allows its op to crash with this cause, "SIGFPE" or "hang".
func (e *Entry) ExcusesCrash(cause string, at Where) bool {
	return slices.Contains(e.Crashes, cause) && e.Applies(at)
}

// Excuses reports whether the entry allows its op to violate the check, with each symptom.
func (e *Entry) Excuses(code asserts.Code, at Where) bool { return e.Checks.Has(code) && e.Applies(at) }

// Expired returns the entries that expire before a day.
func (l *List) Expired(day time.Time) []*Entry {
	return slices.DeleteFunc(slices.Clone(l.Entries), func(e *Entry) bool { return !e.expired(day) })
}

// Applies reports whether the entry is for this device, version and day.
func (e *Entry) Applies(at Where) bool {
	return (e.Device == "" || e.Device == at.Device || slices.Contains(tensor.DeviceTypes(at.Device), e.Device)) &&
		e.Versions.contains(at.Version) && !e.expired(at.Day)
}

func (e *Entry) expired(day time.Time) bool {
	return !e.Expires.IsZero() && !day.Before(e.Expires.AddDate(0, 0, 1))
}
