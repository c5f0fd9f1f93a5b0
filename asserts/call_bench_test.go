package asserts_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

// Wrappers as the generator writes them, around kernels that do nothing.

var opSame = asserts.Op{
	Name: "aten::mark_", Schema: "mark_(Tensor(a!) self) -> Tensor(a!)",
	Args:    []asserts.Subject{{Name: "self", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}},
	Results: []asserts.Subject{{Name: "result", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}},
}

//go:noinline
func kernelMark(self *tensor) *tensor { return self }

func mark(self *tensor) *tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 3)}
	args := func() { self.Observe(call.Next(self)) }
	call.Begin(&opSame)
	call.Before(args)
	result := kernelMark(self)
	call.After(args, func() { result.Observe(call.Next(result)) })
	return result
}

var opSink = asserts.Op{
	Name: "aten::look", Schema: "look(Tensor self) -> ()",
	Args: []asserts.Subject{{Name: "self", Type: "Tensor"}},
}

//go:noinline
func kernelLook(self *tensor) {}

func look(self *tensor) {
	call := asserts.Call{Record: make([]asserts.Observation, 2)}
	args := func() { self.Observe(call.Next(self)) }
	call.Begin(&opSink)
	call.Before(args)
	kernelLook(self)
	call.After(args, nil)
}

var opAdd = asserts.Op{
	Name: "aten::add.Tensor", Schema: "add.Tensor(Tensor self, Tensor other) -> Tensor",
	Args: []asserts.Subject{
		{Index: 0, Name: "self", Type: "Tensor"},
		{Index: 1, Name: "other", Type: "Tensor"},
	},
	Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
}

var sum = newTensor(16)

//go:noinline
func kernelAdd(self, other *tensor) *tensor { return sum }

func add(self, other *tensor) *tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 5)}
	args := func() { self.Observe(call.Next(self)); other.Observe(call.Next(other)) }
	call.Begin(&opAdd)
	call.Before(args)
	result := kernelAdd(self, other)
	call.After(args, func() { result.Observe(call.Next(result)) })
	return result
}

var opCat = asserts.Op{
	Name: "aten::cat", Schema: "cat(Tensor[] tensors) -> Tensor",
	Args:    []asserts.Subject{{Name: "tensors", Type: "Tensor[]", Suffix: "[]", List: true}},
	Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
}

//go:noinline
func kernelCat(tensors []*tensor) *tensor { return sum }

func cat(tensors []*tensor) *tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 35)}
	args := func() {
		call.List(len(tensors))
		for _, t := range tensors {
			t.Observe(call.Next(t))
		}
	}
	call.Begin(&opCat)
	call.Before(args)
	result := kernelCat(tensors)
	call.After(args, func() { result.Observe(call.Next(result)) })
	return result
}

func tensors(n int) []*tensor {
	ts := make([]*tensor, n)
	for i := range ts {
		ts[i] = newTensor(16)
	}
	return ts
}

func BenchmarkCall(b *testing.B) {
	x, y, list := newTensor(16), newTensor(16), tensors(16)
	cases := []struct {
		name          string
		bare, checked func()
	}{
		{"1", func() { kernelLook(x) }, func() { look(x) }},
		{"1+return", func() { kernelMark(x) }, func() { mark(x) }},
		{"3", func() { kernelAdd(x, y) }, func() { add(x, y) }},
		{"16", func() { kernelCat(list) }, func() { cat(list) }},
	}
	levels := []struct {
		name  string
		level asserts.Level
	}{{"off", asserts.Off}, {"identity", asserts.Identity}, {"content", asserts.Content}}
	for _, c := range cases {
		b.Run("tensors="+c.name+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.bare()
			}
		})
		for _, l := range levels {
			b.Run("tensors="+c.name+"/"+l.name, func(b *testing.B) {
				defer asserts.SetLevel(l.level)()
				b.ReportAllocs()
				for b.Loop() {
					c.checked()
				}
			})
		}
	}
}
