package torch_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
)

// A fake may return a sparse tensor, which is not observed, where the kernel returns
// a strided one.
func TestFakeReturnsWhatIsNotSeen(t *testing.T) {
	op := &asserts.Op{Name: "t::f", Results: []asserts.Subject{{Name: "result"}}}
	fake, why := torch.ReadFake(op, `{"op":"t::f","site":["",0],"results":[[{"tensor":1,"storage":0,"dtype":"float32","device":"cpu","sizes":[],"strides":[]}]]}`)
	if why != "" {
		t.Fatal(why)
	}
	real := &asserts.Seen{Level: asserts.Content, Results: []asserts.Observation{{Impl: 1, Storage: 1, Content: new(asserts.Snapshot)}}, ResultLens: []int{1}}
	if settled := fake.Settled(real); len(settled.Results) != 1 || settled.Results[0].Content != nil {
		t.Errorf("%+v", settled.Results)
	}
}
