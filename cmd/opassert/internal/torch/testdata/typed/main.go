// Typed calls of ops on the devices that a library brings: main LIBRARY KERNELS DEVICE...
package main

import (
	"fmt"
	"log"
	"os"

	"example.com/typed/ops"

	"github.com/opassert/opassert/asserts/libtorch"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	for _, library := range os.Args[1:3] {
		if err := libtorch.LoadLibrary(library); err != nil {
			log.Fatal(err)
		}
	}
	for _, device := range os.Args[3:] {
		place := must(libtorch.FindDevice(device))
		x := must(libtorch.Make(libtorch.Spec{DType: libtorch.Float32, Sizes: []int64{3}, Values: []float64{-1, 2, -3}, Device: device}))
		y := must(ops.AbsOut(x, must(ops.EmptyMemoryFormat([]int64{3}, nil, nil, &place.Name, nil, nil))))
		d := must(ops.SubTensor(x, y, libtorch.Int(1)))
		fmt.Println(place.Name, place.Key, must(y.Elements()), must(d.Elements()))
		must(ops.Writes(x))
		for _, t := range []libtorch.Tensor{x, y, d} {
			if err := t.Release(); err != nil {
				log.Fatal(err)
			}
		}
	}
}
