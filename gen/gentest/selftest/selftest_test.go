package selftest

import (
	"testing"

	"github.com/opassert/opassert/asserts/c10/faults"
)

func TestEveryFaultIsReportedOnce(t *testing.T) {
	results := Faults()
	if len(results) < 100 {
		t.Errorf("%d faults are planted", len(results))
	}
	for _, text := range (Report{Faults: results}).Wrong() {
		t.Error(text)
	}
}

func TestPanicsGoThrough(t *testing.T) {
	results := Panics()
	if len(results) == 0 {
		t.Error("no kernel panics")
	}
	for _, text := range (Report{Panics: results}).Wrong() {
		t.Error(text)
	}
}

func TestEveryCellIsPlantedOrImpossible(t *testing.T) {
	for _, c := range faults.Matrix() {
		if (len(c.Faults) == 0) != (c.Impossible != "") {
			t.Errorf("%v, %s, %s: %d faults, impossible because %q", c.Code, c.Kind, c.Class, len(c.Faults), c.Impossible)
		}
	}
}

func TestHealthyKernelsAreSilent(t *testing.T) {
	results := Healthy()
	if len(results) < 1000 {
		t.Errorf("%d calls of healthy kernels", len(results))
	}
	for _, text := range (Report{Healthy: results}).Wrong() {
		t.Error(text)
	}
}

// The comparison of reports is itself able to fail.
func TestWrongReportIsNoticed(t *testing.T) {
	right := Faults()[0]
	for name, change := range map[string]func(*faults.Fault){
		"code":    func(f *faults.Fault) { f.Code++ },
		"subject": func(f *faults.Fault) { f.Subject += "x" },
		"element": func(f *faults.Fault) { f.Element++ },
		"against": func(f *faults.Fault) { f.Against += "x" },
	} {
		f := right.Fault
		change(&f)
		if wrong(f, right.Ran) == "" {
			t.Errorf("a wrong %s goes unnoticed", name)
		}
	}
	if wrong(right.Fault, Ran{}) == "" || wrong(right.Fault, Ran{Panic: 1}) == "" {
		t.Error("a fault that is not reported goes unnoticed")
	}
	twice := Ran{Violations: append(right.Ran.Violations, right.Ran.Violations...)}
	if wrong(right.Fault, twice) == "" {
		t.Error("a fault that is reported twice goes unnoticed")
	}
}
