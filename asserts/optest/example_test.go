package optest_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"
)

// A Row is the tensor of a library.
type Row struct{ Data []float32 }

func (r *Row) Observe(o *asserts.Observation, level asserts.Level) {
	asserts.ObserveSlice(o, level, r, r.Data, int64(len(r.Data)))
}

// newRow makes one, as a function with the mark //opassert:make does.
func newRow(s maker.Spec) (*Row, error) {
	data, err := maker.Elements[float32](s, 1)
	return &Row{data}, err
}

// Clone is a kernel with a fault.
func Clone(self *Row) *Row { return &Row{self.Data} }

// Neg is another, without one.
func Neg(self *Row) *Row {
	negated := make([]float32, len(self.Data))
	for i, x := range self.Data {
		negated[i] = -x
	}
	return &Row{negated}
}

// rows lists the kernels as in a generated package.
var rows = []asserts.Kernel{{Op: functional("clone"), Func: Clone}, {Op: functional("neg"), Func: Neg}}

func functional(name string) *asserts.Op {
	return &asserts.Op{
		Name: "aten::" + name, Schema: name + "(Tensor self) -> Tensor",
		Args: []asserts.Subject{{Name: "self", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
	}
}

func ExampleRun() {
	// In a test file:
	testOps := func(t *testing.T) { optest.Run(t, rows, newRow) }

	for _, line := range reported(testOps) {
		fmt.Println(line)
	}
	// Output:
	// OA007 undeclared-alias  optest_test.Clone  return 0 "result"
	//   saw     result shares memory with argument self
}

// reported runs a test and returns those parts of its output that are the same on every machine.
func reported(test func(*testing.T)) (lines []string) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	r, w, err := os.Pipe()
	if err != nil {
		return []string{err.Error()}
	}
	os.Stdout = w
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for s := bufio.NewScanner(r); s.Scan(); {
			if _, title, ok := strings.Cut(s.Text(), ": OA"); ok {
				title, _, _ = strings.Cut("OA"+title, "   [")
				lines = append(lines, title)
			} else if saw := strings.TrimSpace(s.Text()); strings.HasPrefix(saw, "saw ") {
				lines = append(lines, "  "+saw)
			}
		}
	}()
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestOps", F: test}})
	w.Close()
	<-ended
	return lines
}
