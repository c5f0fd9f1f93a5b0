package installed

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

func TestPythonMeta(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"_meta_registrations.py": "import torch\n\n@register_meta([aten.take.default, aten.take.out])\n@out_wrapper()\ndef meta_take(self):\n    return aten.add(self)\n\n" +
			"@register_meta(\n    [\n        aten.pad.default,\n    ]\n)\ndef meta_pad(self): ...\n\n@register_meta(aten.isin)\ndef meta_isin(self): ...\n",
		"_decomp/decompositions.py": "@register_decomposition(aten.isin)\n@out_wrapper()\ndef isin(self): ...\n@register_decomposition(aten.addr)\ndef addr(self): ...\n",
	} {
		path := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
	meta := (&Torch{Package: folder}).PythonMeta()
	for op, want := range map[string]string{
		"aten::take":               "torch/_meta_registrations.py:3",
		"aten::take.out":           "torch/_meta_registrations.py:3",
		"aten::take.other":         "",
		"aten::pad":                "torch/_meta_registrations.py:8",
		"aten::isin.Scalar_Tensor": "torch/_meta_registrations.py:15",
		"aten::addr.out":           "torch/_decomp/decompositions.py:4",
		"aten::add":                "",
	} {
		if got := meta.Of(op); got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
	if none := (&Torch{}).PythonMeta(); len(none) > 0 {
		t.Errorf("a libtorch without Python registers %v", none)
	}
}
