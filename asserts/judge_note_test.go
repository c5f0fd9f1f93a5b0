package asserts_test

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// A debatable violation is a note, with the reason; similar ones are errors.
func TestNotes(t *testing.T) {
	written := func(dtype string) asserts.Observation {
		o := see(1, 2)
		o.Content = &asserts.Snapshot{DType: dtype, Nbytes: 1, Bytes: []byte{0}}
		return o
	}
	overwritten := func(dtype string) asserts.Observation {
		o := written(dtype)
		o.Content.Bytes[0]++
		return o
	}
	// A tensor and a return that is a part of it.
	hands := func(part string, write bool) asserts.Observation {
		o, inside := see(1, 0), written("float32")
		inside.Impl, inside.Storage = 8, 9
		if write {
			inside.Content.Bytes[0]++
		}
		o.Content = &asserts.Snapshot{Parts: []asserts.Part{{Name: part, Observation: inside}}}
		return o
	}
	shared := hands("scales", false)
	shared.Impl, shared.Content.Parts[0].StorageUses = 5, 2
	noted := *wholeOp("f(Tensor self) -> Tensor")
	noted.Notes = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Reason: "an op of tests"}}
	op, in := wholeOp("f(Tensor self) -> Tensor"), wholeOp("f_(Tensor(a!) self) -> Tensor(a!)")
	for _, tt := range []struct {
		name          string
		op            *asserts.Op
		before, after asserts.Observation
		result        asserts.Observation
		code          asserts.Code
		note          string // prefix; "" for an error
	}{
		{"version of floats", in, written("float32"), overwritten("float32"), written("float32"), asserts.VersionBump, ""},
		{"version of complex", in, written("complex64"), overwritten("complex64"), written("complex64"), asserts.VersionBump, ""},
		{"version of integers", in, written("int64"), overwritten("int64"), written("int64"), asserts.VersionBump, "a tensor of this dtype"},
		{"version of quantized", in, written("quint8"), overwritten("quint8"), written("quint8"), asserts.VersionBump, "a tensor of this dtype"},
		{"version of who knows", in, written(""), overwritten(""), written(""), asserts.VersionBump, ""},
		{"write to integers", op, written("int64"), overwritten("int64"), see(5, 6), asserts.UndeclaredWrite, ""},
		{"scales handed out", op, hands("scales", false), hands("scales", false), see(8, 9), asserts.UndeclaredAlias, "members of a quantizer"},
		{"scales kept", op, see(1, 2), see(1, 2), shared, asserts.FreshStorage, "members of a quantizer"},
		{"sizes handed out", op, hands("sizes", false), hands("sizes", false), see(8, 9), asserts.UndeclaredAlias, "members of a nested tensor"},
		{"values handed out", op, hands("values", false), hands("values", false), see(8, 9), asserts.UndeclaredAlias, ""},
		{"scales written", op, hands("scales", false), hands("scales", true), see(5, 6), asserts.UndeclaredWrite, ""},
		{"an allowlist's note", &noted, see(1, 2), see(1, 2), see(1, 2), asserts.UndeclaredAlias, "an op of tests"},
		{"another check of it", &noted, written("int64"), overwritten("int64"), see(5, 6), asserts.UndeclaredWrite, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := &asserts.Seen{Level: asserts.Content, Before: list{tt.before}, After: list{tt.after}, Results: list{tt.result}}
			vs := asserts.Judge(tt.op, seen, asserts.Aware()).Violations
			if len(vs) != 1 || vs[0].Code != tt.code {
				t.Fatalf("%v, want %v", asserts.Violations(vs), tt.code)
			}
			v, status := vs[0], asserts.Violated
			if tt.note != "" {
				status = asserts.Noted
			}
			if (v.Note != "") != (tt.note != "") || !strings.HasPrefix(v.Note, tt.note) || v.Result().Status != status {
				t.Errorf("note %q, status %v; want %q", v.Note, v.Result().Status, tt.note)
			}
			if report := v.Error(); strings.Contains(report, "\n  note    "+tt.note) != (tt.note != "") {
				t.Errorf("the report is\n%s", report)
			}
		})
	}
}

// A note neither panics nor fails a test; other violations of the call do.
func TestNotesAreNotErrors(t *testing.T) {
	all := violations(t)
	all[0].Note = "debatable"
	asserts.Panic.Report(all[:1])
	func() {
		defer func() {
			if got := recover(); got != all[1] {
				t.Errorf("%v, want the one that is not a note", got)
			}
		}()
		asserts.Panic.Report(all[:2])
	}()

	op := newAdd()
	op.Notes = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Reason: "debatable"}}
	log := new(testLog)
	asserts.NewT(log)
	binary(op, aliasing, newTensor(4), newTensor(4))
	log.end()
	if log.failed || !strings.Contains(log.String(), "  note    debatable") {
		t.Errorf("failed %v:\n%s", log.failed, log)
	}
}

// An op for inference without a gradient is a note; with a partial one, or in another namespace, it
// is an error.
func TestNotesOnGradients(t *testing.T) {
	graded := func(grad bool) asserts.Observation {
		return see(1, 2, func(o *asserts.Observation) { o.Content = &asserts.Snapshot{DType: "float32", RequiresGrad: grad} })
	}
	for _, tt := range []struct {
		op    string
		grad  bool
		noted bool
	}{
		{"quantized::f", false, true},
		{"mkldnn::f", false, true},
		{"quantized::f", true, false},
		{"quantizedly::f", false, false},
		{"aten::f", false, false},
	} {
		op := wholeOp("f(Tensor self) -> Tensor")
		op.Name = tt.op
		result := graded(tt.grad)
		result.Impl, result.Storage = 5, 6
		seen := &asserts.Seen{Level: asserts.Content, Alone: true, Autograd: true, Before: list{graded(true)}, After: list{graded(true)}, Results: list{result}}
		vs := asserts.Judge(op, seen, asserts.Aware()).Violations
		if len(vs) != 1 || vs[0].Code != asserts.AutogradKernel || (vs[0].Note != "") != tt.noted {
			t.Errorf("%s, requires grad %v: %v", tt.op, tt.grad, asserts.Violations(vs))
		}
	}
}
