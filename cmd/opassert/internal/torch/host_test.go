package torch

import (
	"bytes"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// The package of the host has equal bytes each time, and programs name its file: they do not grow
// with it.
func TestHostPackage(t *testing.T) {
	text, again := must.Get(hostZip())(t), must.Get(hostZip())(t)
	if !bytes.Equal(text, again) {
		t.Error("made twice, the zip has other bytes")
	}
	program := must.Get(FakesProgram())(t)
	if !bytes.Contains(program, []byte(must.Get(hostPackage())(t))) || bytes.Contains(program, []byte{'\n'}) {
		t.Errorf("the program does not only import the file\n%s", program)
	}
}
