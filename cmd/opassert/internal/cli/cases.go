package cli

import (
	"os"

	"github.com/opassert/opassert/asserts/suite"
)

// casesHelp is what opassert help cases prints.
const casesHelp = `A file of cases says what ops take whose arguments can't be guessed:

  - ops: [torchvision::roi_align, "mylib::*"]
    cases:
      - {input: "t[2, 3, 8, 8]", rois: "t[2, 5] = [0, 1, 1, 6, 6]", spatial_scale: "1.0"}
      - {input: "float32[1, 3, 8, 8] channels-last", pooled_height: "2"}

ops are names or patterns, with or without namespace and overload. Each case is
a call that the suite starts from: what it leaves open is made from the schema,
and everything is then varied as in any other call. A value is one of

  3  -1  0.5  1e-05  true  none  default    numbers, flags, None, the schema's default
  'bilinear'  'don''t'                      text
  [3, 3]  [t[2], none]                      a list
  dtype:float32  layout:strided  format:channels_last  device:cpu  qscheme:per_tensor_affine
  generator                                 a random number generator
  float32[2, 3]                             a tensor of a dtype and sizes
  t[2, 3]                                   the same, of the dtype that the case has

Behind a tensor's sizes may stand
  transposed sliced expanded channels-last offset                how it lies in memory
  coo csr csc bsr bsc mkldnn quantized per-channel nested conj neg inference requires-grad ...
  below:5                                   whole numbers 0 to 4, such as indices
  const:1 range count negative wide special max lowest subnormal spd lower upper
  = [0, 1, 2.5]                             its first elements

Use it with opassert check -cases-from FILE. opassert run -record FILE writes one
of the calls that a program makes.
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
