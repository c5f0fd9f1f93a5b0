package maker_test

import (
	"fmt"

	"github.com/opassert/opassert/asserts/maker"
)

// A matrix whose rows may be followed by elements of others.
func ExampleRows() {
	part := maker.Spec{DType: "uint8", Sizes: []int64{2, 2}, Strides: []int64{3, 1}, Data: []byte{1, 2, 0, 3, 4}}
	data, stride, err := maker.Rows[uint8](part)
	fmt.Println(data, stride, err)
	// Output: [1 2 0 3 4] 3 <nil>
}

// A library without strides accepts tensors in row-major order, and refuses others.
func ExampleElements() {
	vector := maker.Spec{DType: "uint8", Sizes: []int64{2}, Strides: []int64{1}, Offset: 1, Data: []byte{7, 1, 2}}
	fmt.Println(maker.Elements[uint8](vector, 1))
	vector.Strides, vector.Offset = []int64{2}, 0
	fmt.Println(maker.Elements[uint8](vector, 1))
	// Output:
	// [1 2] <nil>
	// [] not supported: strides
}
