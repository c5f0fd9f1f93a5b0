package torch

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/schema"
)

// isTorchs reports whether PyTorch itself registered an op. A library that is loaded may load more parts of PyTorch.
func isTorchs(name string) bool {
	if Custom(name) {
		return false
	}
	op, err := libtorch.Lookup(name)
	return err == nil && ownSource(op.File)
}

var (
	shortText = regexp.MustCompile(`^[A-Za-z][\w.+-]{0,23}$`)
	message   = regexp.MustCompile(`^[ -~\n]+$`)
)

// texts returns the short texts and the messages in the read-only data of a shared library, in its order: modes that
// its kernels compare arguments with, and messages about those.
func texts(path string) []string {
	file, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	var all []string
	seen := make(map[string]bool)
	for _, section := range file.Sections {
		if !strings.HasPrefix(section.Name, ".rodata") || section.Size > 1<<26 {
			continue
		}
		data, _ := section.Data()
		for text := range bytes.SplitSeq(data, []byte{0}) {
			if !seen[string(text)] && (shortText.Match(text) ||
				8 <= len(text) && len(text) <= 400 && message.Match(text) && bytes.ContainsRune(text, ' ')) {
				seen[string(text)] = true
				all = append(all, string(text))
			}
		}
	}
	return all
}

// source reads a source file. Its path is the one that the compiler got, which may be relative to
// a folder above the libraries.
func source(file string, libraries []string) ([]byte, error) {
	text, err := os.ReadFile(file)
	for _, library := range libraries {
		dir := filepath.Dir(library)
		for ; err != nil && !filepath.IsAbs(file) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			text, err = os.ReadFile(filepath.Join(dir, file))
		}
	}
	return text, err
}

// OwnLine returns the line of the source in which an op is defined, or the line of its namespace's registrations if the
// source can't be read. A macro may have the op's name as an argument, or may contain the definitions, above its use.
func OwnLine(op *libtorch.Op, libraries []string) int {
	source, err := source(op.File, libraries)
	if err != nil {
		return op.Line
	}
	_, name, _ := strings.Cut(op.Name, "::")
	name = regexp.QuoteMeta(name)
	written := regexp.MustCompile(`"(?:` + op.Namespace + `::)?` + name + `["(]`)
	passed := regexp.MustCompile(`[(,]\s*` + name + `\s*[,)]`)
	lines := slices.Collect(strings.Lines(string(source)))
	from := min(max(op.Line-1, 0), len(lines))
	for _, place := range []struct {
		from, to int
		defines  *regexp.Regexp
	}{{from, len(lines), written}, {from, len(lines), passed}, {0, from, written}} {
		if i := slices.IndexFunc(lines[place.from:place.to], place.defines.MatchString); i >= 0 {
			return place.from + i + 1
		}
	}
	return op.Line
}

// inverses are pairs of words in the names of ops: the op with the first one reads results of the op
// with the second one.
var inverses = strings.NewReplacer("decode", "encode", "load", "save", "unpack", "pack", "dequantize", "quantize",
	"decompress", "compress")

// inverse returns the op that makes the tensor that an op reads, by their names, or nil.
func inverse(name string) *schema.Op {
	other := inverses.Replace(name)
	op, err := libtorch.Lookup(other)
	if other == name || err != nil || len(op.Returns) == 0 || op.Returns[0].Type != "Tensor" {
		return nil
	}
	parsed, _ := Schema(op) // nil with an error
	return parsed
}

// makers returns the ops that return an object of a class that an op takes.
func (l *Libtorch) makers(op *schema.Op) []*schema.Op {
	var all []*schema.Op
	for _, arg := range op.Func.Args {
		if class := arg.Type.String(); strings.Contains(class, ".torch.classes.") {
			all = append(all, l.makersOf(strings.TrimSuffix(class, "?"))...)
		}
	}
	return all
}

// makersOf returns the ops that return one object of a class.
func (l *Libtorch) makersOf(class string) []*schema.Op {
	if all, known := l.makes[class]; known { // it may be looked up at each call
		return all
	}
	ops, err := libtorch.Ops()
	if err != nil {
		return nil
	}
	var all []*schema.Op
	defer func() { l.makes[class] = all }()
	for _, op := range ops {
		if len(op.Returns) != 1 || op.Returns[0].Type != class {
			continue
		}
		if parsed, err := Schema(op); err == nil {
			all = append(all, parsed)
		}
	}
	return all
}

var unconstructed = regexp.MustCompile(`class (\S+) has no constructor$`)

// withMaker adds the op that returns an object of a class to the error that the class has no constructor.
func (l *Libtorch) withMaker(err error) error {
	e, ok := err.(*libtorch.Error)
	if !ok || !strings.HasSuffix(e.Message, "has no constructor") {
		return err
	}
	if m := unconstructed.FindStringSubmatch(e.Message); m != nil {
		for _, op := range l.makersOf(m[1]) {
			own := *e
			own.Message += fmt.Sprintf("; %s::%s returns one", op.Namespace, op.Func)
			return &own
		}
	}
	return err
}
