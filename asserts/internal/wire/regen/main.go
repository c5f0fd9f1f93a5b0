// Regen writes the code generated from the description of the wire and the tables of package tensor.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
	"text/template"

	"github.com/opassert/opassert/asserts/internal/wire"
	"github.com/opassert/opassert/internal/tensor"
)

//go:embed *.tmpl
var texts embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"upper": func(name string) string {
		return strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(name, " ", "_"), "-", "_"))
	},
	"snake": func(name string) string { return strings.ReplaceAll(name, " ", "_") },
	"camel": camel,
	"lower": func(name string) string { name = camel(name); return strings.ToLower(name[:1]) + name[1:] },
	"add":   func(a, b int) int { return a + b },
}).ParseFS(texts, "*.tmpl"))

func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(name) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

type placedField struct {
	wire.Field
	Word, Shift int
}

// Type returns the C type of the field.
func (p placedField) Type() string {
	switch {
	case p.Kind == wire.Word:
		return "int64_t"
	case p.Signed:
		return fmt.Sprintf("int%d_t", p.Bits)
	}
	return fmt.Sprintf("uint%d_t", p.Bits)
}

// Go returns the Go type of the field.
func (p placedField) Go() string { return strings.TrimSuffix(p.Type(), "_t") }

// Rest returns the number of bits of a word outside of the field.
func (p placedField) Rest() int { return 64 - p.Bits }

// Whole reports whether the field is a word.
func (p placedField) Whole() bool { return p.Kind == wire.Word }

func places(fields []wire.Field) []placedField {
	var all []placedField
	word, shift := 0, 0
	for _, f := range fields {
		all = append(all, placedField{f, word, shift})
		if shift += f.Bits; f.Kind == wire.Word || shift == 64 {
			word, shift = word+1, 0
		}
	}
	return all
}

// A step is a field of the contents, and how to get past the one before it.
type step struct {
	wire.Field
	Before *step
}

func (s step) Is(kind string) bool {
	return kind == [...]string{wire.Word: "word", wire.Packed: "packed", wire.List: "list", wire.Strides: "strides",
		wire.Bytes: "bytes", wire.Text: "text"}[s.Kind]
}

func steps(fields []wire.Field) []step {
	all := make([]step, len(fields))
	for i, f := range fields {
		all[i].Field = f
		if i > 0 {
			all[i].Before = &all[i-1]
		}
	}
	return all
}

func main() {
	head := places(wire.Head)
	data := map[string]any{
		"Numbers": wire.Numbers, "Functions": wire.Functions, "Tags": wire.Tags,
		"Enums": append([]wire.Enum{wire.Tags, wire.Parts, wire.Traits}, wire.Enums...), "Parts": wire.Parts,
		"Traits": wire.Traits,
		"Head":   head, "HeadWords": head[len(head)-1].Word + 1, "Contents": steps(wire.Contents),
		"Last":   steps(wire.Contents)[len(wire.Contents)-1],
		"Frames": wire.Questions, "Records": wire.Records, "WatchEnums": wire.WatchEnums,
		"DTypes": tensor.DTypes(), "Forms": tensor.Forms, "Arrangements": tensor.Arrangements, "Libraries": tensor.Libraries,
	}
	for _, f := range []struct{ template, file string }{
		{"words.h.tmpl", "../../libtorch/shim/words.h"}, {"observed.h.tmpl", "../../libtorch/shim/observed.h"},
		{"libtorch.go.tmpl", "../../libtorch/wire_gen.go"},
		{"frames.h.tmpl", "../../../cmd/opassert/internal/watch/shim/frames.h"},
		{"watch.go.tmpl", "../../../cmd/opassert/internal/watch/wire_gen.go"},
	} {
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, f.template, data); err != nil {
			log.Fatal(err)
		}
		text := b.Bytes()
		if strings.HasSuffix(f.file, ".go") {
			var err error
			if text, err = format.Source(text); err != nil {
				log.Fatalf("%s: %v\n%s", f.file, err, b.Bytes())
			}
		}
		if err := os.WriteFile(f.file, text, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
