package libtorch_test

import (
	"bytes"
	"errors"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

func readBack(file []byte) error {
	_, err := schema.Config{Strict: true}.Parse("dump.yaml", file, nil)
	return err
}

// All ops of the dispatcher are read back, with all of their properties.
func TestDumpReadsBack(t *testing.T) {
	libtorchtest.Need(t)
	var b bytes.Buffer
	must.Do(t, libtorch.Dump(&b, "aten", readBack))
	file := must.Get(schema.Config{Strict: true}.Parse("dump.yaml", b.Bytes(), nil))(t)
	read := make(map[string]*schema.Op)
	for _, op := range file.Ops {
		read[op.Name()] = op
	}
	ops := must.Get(libtorch.Ops())(t)
	missing := 0
	for _, op := range ops {
		if op.Namespace != "aten" {
			continue
		}
		got := read[strings.TrimPrefix(op.Name, "aten::")]
		if got == nil {
			missing++
			continue
		}
		if text := got.Func.String(); text != op.Schema {
			t.Errorf("%s came back as %s", op.Schema, text)
		}
		if composite := slices.Contains(op.Kernels, "CompositeImplicitAutograd"); got.CompositeImplicit != composite {
			t.Errorf("%s decomposes: %v, and came back as %v", op.Name, composite, got.CompositeImplicit)
		}
		if diff := cmp.Diff(op.Tags, got.Tags); len(op.Tags) > 0 && diff != "" {
			t.Errorf("tags of %s:\n%s", op.Name, diff)
		}
	}
	if comments := strings.Count(b.String(), "# left out: "); missing != comments || missing > 5 {
		t.Errorf("%d operators are missing, %d are said to be left out; want the same few", missing, comments)
	}
}

func TestDumpOplib(t *testing.T) {
	libtorchtest.Need(t)
	oplibOp(t, "scale")
	var b bytes.Buffer
	must.Do(t, libtorch.Dump(&b, "oplib", readBack))
	for _, want := range []string{
		"- func: oplib::scale(Tensor self, float factor) -> Tensor\n  dispatch:\n    CPU: scale\n    Meta: scale\n",
		"- func: oplib::scale_fast(Tensor self, float factor=1.0) -> Tensor\n  dispatch:\n    CPU: scale_fast\n",
		"# left out: double_ is in-place by its name",
		"- func: oplib::rows(Tensor(a -> *) self) -> Tensor(a)[]\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the dump lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(b.String())
	}
}

func TestDumpErrors(t *testing.T) {
	libtorchtest.Need(t)
	var b bytes.Buffer
	if err := libtorch.Dump(&b, "nowhere", readBack); err == nil || !strings.Contains(err.Error(), `namespace "nowhere"`) {
		t.Errorf("a namespace that does not exist gave %v", err)
	}
	odd := errors.New("odd")
	if err := libtorch.Dump(&b, "aten", func([]byte) error { return odd }); !errors.Is(err, odd) {
		t.Errorf("an error without a line gave %v", err)
	}
	head := scanner.ErrorList{{Pos: token.Position{Line: 1}, Msg: "head"}}
	if err := libtorch.Dump(&b, "aten", func([]byte) error { return head }); err == nil {
		t.Error("an error outside of all entries was lost")
	}
	if b.Len() > 0 {
		t.Errorf("%d bytes were written in spite of errors", b.Len())
	}
}
