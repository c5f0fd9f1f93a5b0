package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// casesHelp is the output of opassert help cases.
const casesHelp = `A file of cases says what ops take whose arguments can't be guessed:

  - ops: [torchvision::roi_align, "mylib::*"]
    cases:
      - {input: "t[2, 3, 8, 8]", rois: "t[n, 5] in:0..1", spatial_scale: "1.0"}
      - {input: "float32[1, 3, 8, 8] channels-last", pooled_height: "2"}
  - ops: [mylib::pooled]
    cases:
      - {values: "t[n, 4]", indices: "int64[m] below:n", offsets: "int64[k+1] ascending:m", batches: "k"}

ops are names or patterns, with or without namespace and overload. Each case is
a call that the suite starts from: what it leaves open is made from the schema,
and everything is then varied as in any other call; a smaller call that shows a
finding keeps its sizes. Arguments go by their names, or by their positions: _0,
_1. check -explain prints such a file for ops that
never ran, and the line case of a finding is an entry too. A case that does not run
as it is written is reported with what the kernel said. Values stand in quotes, where
YAML would read something else; one is

  3  -1  0.5  1e-05  0.6+0.8i               numbers
  true  none  default                       flags, None, the schema's default
  'bilinear'  '/tmp/model.bin'              text; a quote in it is doubled. Paths are absolute:
                                            workers run in folders of their own
  [3, 3]  [t[2], none]                      a list
  (t[2], 3)                                 a tuple
  {'a': t[2], 'b': t[3]}                    a dict
  dtype:float32  layout:strided  format:channels_last  device:cpu  qscheme:per_tensor_affine
  generator                                 a random number generator
  float32[2, 3]                             a tensor of a dtype and sizes
  t[2, 3]                                   the same, of the dtype that the case has
  storage:float32[4]                        a storage
  mylib::pack(t[2, 3], none)                what an op returns, its first result
  after mylib::push(mylib::pack(t[2]), 3)   the first argument of a call, once it is made
  mylib.Queue(t[2], 'first')                an object of the custom class mylib.Queue
  same:x  view:xs[1]                        what an earlier argument is, such as one object or tensor
                                            for both; a view of its storage; of a list's tensor 1

Ops of PyTorch make tensors that nothing else says, each with its overload, and so do
the ops of a Go module, as reports name them, aten::narrow(t[8], 2, 4):

  aten::flip(int64[n] range, [0])                                                    n-1 to 0
  aten::cat([float32[k, 1] below:n, float32[k, 2] in:0..1, float32[k, 2] in:2..4], 1) boxes
  aten::slice.Tensor(t[n, 8], 1, 3, 5)                                               a part of each row
  aten::quantize_per_tensor(t[n, 3], 0.125, 0, dtype:qint8)                          a scale
  aten::empty.memory_format([n, 3], dtype:float32, none, device:meta)                on meta

A size may be a name, or a sum or product of names and numbers: n, m+1, 2*n. It
stands for the same number all over the case, and for others from 1 to 8 in other
cases. A number of the case and a bound may be made of these too, below:n, k-1:
of names that are the size of a tensor, and of others of one letter.

Behind a tensor's sizes may stand
  transposed sliced expanded channels-last  how it lies in memory
  offset padded between                     the same, with others' elements around it
  coo csr csc bsr bsc mkldnn quantized per-channel nested conj neg inference requires-grad ...
  below:5                                   whole numbers 0 to 4, such as indices
  in:0.5..2                                 numbers from a range
  ascending:n                               from 0 to n, evenly, such as offsets
  sum:n                                     whole numbers that add up to n, such as lengths
  const:1 range count equal negative wide special max lowest subnormal spd lower upper
  = [0, 1, 2.5]                             its first elements

Use it with opassert check -cases-from FILE.
`

// ownCases reads the user's own cases.
func (f *checkFlags) ownCases() (*suite.Recipes, error) {
	if *f.casesFrom == "" {
		return nil, nil
	}
	text, err := yamlfile.Read(*f.casesFrom)
	if err != nil {
		return nil, fmt.Errorf("-cases-from: %w", err)
	}
	return suite.ParseRecipes(*f.casesFrom, text)
}

// fit holds the user's cases against the ops that there are. An op that they are
// for is tried, also where nothing but they can say how it is called.
func (c *checkup) fit() error {
	own, err := c.flags.ownCases()
	if own == nil || err != nil {
		return err
	}
	c.own = own
	var ops []*schema.Op
	for _, o := range c.all {
		ops = append(ops, o.Schema)
	}
	for _, p := range c.programs {
		if p.job != nil { // cases of Go kernels cannot lack anything
			continue
		}
		for i := range p.operators {
			if o := &p.operators[i]; own.For(o.Schema) {
				o.Missing, o.Cannot = "", ""
			}
		}
	}
	return own.Check(ops)
}

// printUnfit prints which of the user's cases did not run unchanged, with the
// kernel's error.
func (c *checkup) printUnfit(inv *invocation, results []*report.OpResult) {
	if c.own == nil {
		return
	}
	for _, r := range results {
		i := slices.IndexFunc(c.operators, func(o engine.Operator) bool { return o.Name() == r.Op })
		for _, n := range slices.Sorted(maps.Keys(r.Unfit)) {
			if at, ok := c.own.At(c.operators[i].Schema, n); ok {
				fmt.Fprintf(inv.stderr, "%v: %s: %s\n", at, r.Op, r.Unfit[n])
			}
		}
	}
}
