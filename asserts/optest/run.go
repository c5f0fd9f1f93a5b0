package optest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// Run calls every op on generated cases, each op a subtest, and checks every call against its
// schema. It fails for each violation, with the smallest call that shows it, and for an op that
// accepted no case: [maker.Skip] leaves out such an op. newTensor makes a tensor of the library.
func Run[T any](t *testing.T, kernels []asserts.Kernel, newTensor func(maker.Spec) (T, error),
	options ...maker.Option) {
	t.Helper()
	l, operators := load(t, kernels, newTensor, options)
	total := make(map[string]int)
	for _, o := range operators {
		t.Run(o.Name(), func(t *testing.T) {
			if reason, ok := l.Skipped[o.Name()]; ok {
				t.Skip(reason)
			}
			result, err := suite.Check(l.engine, l.config(), o, 0, cmp.Or(l.Cases, suite.AllCases))
			if err != nil {
				t.Fatal(err)
			}
			logResult(t, result)
			for what, n := range result.Lacks {
				total[what] += n
			}
		})
	}
	if text := report.Lacking(total); text != "" {
		t.Log(text)
	}
}

// load is open for a test, which ends if there is nothing to run.
func load[T any](tb testing.TB, kernels []asserts.Kernel, newTensor func(maker.Spec) (T, error),
	options []maker.Option) (*library, []engine.Operator) {
	tb.Helper()
	l, err := open(kernels, newTensor, Job{Engine: "Go kernels", Level: asserts.Content}, options)
	if err != nil {
		tb.Fatal(err)
	}
	l.job.Seed = cmp.Or(l.Seed, report.DefaultSeed)
	operators, err := l.engine.Operators()
	if err != nil {
		tb.Fatal(err)
	}
	if len(operators) == 0 {
		tb.Fatal("no ops: nothing was checked")
	}
	return l, operators
}

func logResult(t testing.TB, r *report.OpResult) {
	t.Helper()
	for _, f := range r.Findings {
		f.Violation.Repro, f.Violation.Func = repro(t), r.Name()
		t.Errorf("%v\n  call    %s", f.Violation, strings.TrimPrefix(f.Call, "aten::"))
	}
	switch {
	case r.Missing != "":
		t.Errorf("%s: %s", r.Name(), r.Missing)
	case r.Ran == 0:
		t.Errorf("%s accepted none of %d cases, so nothing was checked; maker.Skip leaves it out\n  the last error: %s",
			r.Name(), r.Cases, r.Error)
	}
}

func repro(t testing.TB) string {
	parts := strings.Split(t.Name(), "/")
	for i, part := range parts {
		parts[i] = "^" + part + "$"
	}
	tags := ""
	if asserts.Enabled {
		tags = "-tags opassert "
	}
	return fmt.Sprintf("go test %s-run '%s'", tags, strings.Join(parts, "/"))
}

// Fuzz is Run with cases that the fuzzer chooses: the name of an op, and the number from which the
// case is made. The seeds are the first cases of Run.
func Fuzz[T any](f *testing.F, kernels []asserts.Kernel, newTensor func(maker.Spec) (T, error),
	options ...maker.Option) {
	f.Helper()
	l, operators := load(f, kernels, newTensor, options)
	for _, o := range operators {
		for n := range 3 {
			f.Add(o.Name(), uint32(n))
		}
	}
	f.Fuzz(func(t *testing.T, op string, number uint32) {
		o := operators[choose(op, operators)]
		if reason, ok := l.Skipped[o.Name()]; ok {
			t.Skip(reason)
		}
		n := int(number)
		result, err := suite.Check(l.engine, l.config(), o, n, n+1)
		if err != nil {
			t.Fatal(err)
		}
		if result.Ran > 0 {
			logResult(t, result)
		}
	})
}

// choose returns the position of the named op, or of any op for another name.
func choose(op string, operators []engine.Operator) int {
	if i := slices.IndexFunc(operators, func(o engine.Operator) bool { return o.Name() == op }); i >= 0 {
		return i
	}
	h := fnv.New32a()
	h.Write([]byte(op))
	return int(h.Sum32() % uint32(len(operators)))
}
