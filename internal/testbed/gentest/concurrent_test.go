package gentest_test

import (
	"sync"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/gentest"
)

// Two goroutines write disjoint views of one buffer, and read them, at the
// content level: neither call is reported for the other's writes.
func TestDisjointViews(t *testing.T) {
	c := new(asserts.Collector)
	defer asserts.SetReporter(c)()
	defer asserts.SetLevel(asserts.Content)()
	base := c10.Full([]int64{8}, 1, c10.TensorOptions{DType: c10.Float32})
	var both sync.WaitGroup
	for offset := range int64(2) {
		half := base.AsStrided([]int64{4}, []int64{1}, 4*offset)
		both.Go(func() {
			for range 2000 {
				gentest.AddTensorInPlace(half, half, 1)
				gentest.AddTensor(half, half, 1).Release()
			}
		})
	}
	both.Wait()
	for _, f := range c.Found() {
		t.Error(f)
	}
}
