package schema_test

import (
	"testing"

	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

// BenchmarkParse reads all of PyTorch 1.13.1's schema file.
func BenchmarkParse(b *testing.B) {
	table, err := conformance.Load("1.13.1")
	if err != nil {
		b.Fatal(err)
	}
	tags, err := schema.ParseTags("tags.yaml", table.Tags)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(table.Source)))
	for b.Loop() {
		if _, err := schema.Parse("native_functions.yaml", table.Source, tags); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseOp(b *testing.B) {
	const text = "addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.ParseOp(text); err != nil {
			b.Fatal(err)
		}
	}
}
