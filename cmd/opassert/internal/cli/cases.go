package cli

import (
	"os"

	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/schema"
)

// casesHelp is what opassert help cases prints.
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
and everything is then varied as in any other call. Arguments go by their names,
or by their positions: _0, _1. check -explain prints such a file for ops that
never ran. A value is one of

  3  -1  0.5  1e-05  true  none  default    numbers, flags, None, the schema's default
  'bilinear'                                text; a quote in it is doubled
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

A size may be a name, or a sum or product of names and numbers: n, m+1, 2*n. It
stands for the same number all over the case, and for others in other cases. A
number of the case and a bound may be made of these too: below:n, k-1.

Behind a tensor's sizes may stand
  transposed sliced expanded channels-last offset                how it lies in memory
  coo csr csc bsr bsc mkldnn quantized per-channel nested conj neg inference requires-grad ...
  below:5                                   whole numbers 0 to 4, such as indices
  in:0.5..2                                 numbers from a range
  ascending:n                               from 0 to n, evenly, such as offsets
  const:1 range count negative wide special max lowest subnormal spd lower upper
  = [0, 1, 2.5]                             its first elements

Use it with opassert check -cases-from FILE.
`

// ownCases reads the user's own cases.
func (f *checkFlags) ownCases() (*suite.Recipes, error) {
	if *f.casesFrom == "" {
		return nil, nil
	}
	text, err := os.ReadFile(*f.casesFrom)
	if err != nil {
		return nil, err
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
	var ops []*schema.Op
	for _, o := range c.all {
		ops = append(ops, o.Schema)
	}
	for _, p := range c.programs {
		if p.job != nil { // what a Go kernel lacks no case has
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
