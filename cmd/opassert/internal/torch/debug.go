package torch

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
)

// A debugged is a library that was built with -g.
type debugged struct {
	data      *dwarf.Data
	functions []elf.Symbol
	names     []string // of the functions, in C++
	base      uint64   // where a program begins that is not position-independent, else 0
	lines     sync.Map // offset -> []asserts.Site, as a program may reach a line millions of times
}

var debugs sync.Map // path -> *debugged, nil for a library that was not

func debug(library string) *debugged {
	known, ok := debugs.Load(library)
	if !ok {
		known, _ = debugs.LoadOrStore(library, readDebug(library))
	}
	return known.(*debugged)
}

func readDebug(library string) *debugged {
	file, err := elf.Open(library)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := file.DWARF()
	symbols, _ := file.Symbols()
	if err != nil || file.Section(".debug_line") == nil {
		return nil
	}
	symbols = slices.DeleteFunc(symbols, func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) != elf.STT_FUNC || strings.HasSuffix(s.Name, ".cold")
	})
	names := slicesx.Map(symbols, func(s elf.Symbol) string { return demangle.Filter(s.Name, demangle.NoParams) })
	return &debugged{data: data, functions: symbols, names: names, base: base(file)}
}

func base(file *elf.File) uint64 {
	i := slices.IndexFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD })
	if file.Type != elf.ET_EXEC || i < 0 {
		return 0
	}
	return file.Progs[i].Vaddr
}

// headers are the files whose code is inlined into a library's.
var headers = regexp.MustCompile(
	`/(ATen|c10|torch/csrc|torch/library\.h|c\+\+/\d+|torch/headeronly|sysdeps|csu)(/|$)|libc_start`)

// A unit is what a compile unit has about a range of code.
type unit struct {
	folder string         // in which it was compiled
	scopes []*dwarf.Entry // the functions, and the calls inlined into them, outermost first
	rows   []dwarf.LineEntry
	files  []*dwarf.LineFile
}

func (d *debugged) unit(from, to uint64) (u unit) {
	entries := d.data.Reader()
	e, err := entries.SeekPC(from)
	if err != nil {
		return u
	}
	u.folder, _ = e.Val(dwarf.AttrCompDir).(string)
	lines, _ := d.data.LineReader(e)
	last, row := dwarf.LineEntry{EndSequence: true}, dwarf.LineEntry{}
	for lines != nil && lines.Next(&row) == nil { // SeekPC knows only code in the order of addresses
		if !last.EndSequence && last.Address < to && from < row.Address {
			u.rows = append(u.rows, last)
		}
		last = row
	}
	for e, err = entries.Next(); err == nil && e != nil && e.Tag != dwarf.TagCompileUnit; e, err = entries.Next() {
		ranges, _ := d.data.Ranges(e)
		within := slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] < to && from < r[1] })
		switch {
		case within && e.Tag != dwarf.TagLexDwarfBlock:
			u.scopes = append(u.scopes, e)
		case !within && e.Tag != dwarf.TagNamespace:
			entries.SkipChildren()
		}
	}
	if lines != nil {
		u.files = lines.Files()
	}
	return u
}

// line returns a line of a file, or the zero Site if that is a header.
func (u *unit) line(file *dwarf.LineFile, line int) (at asserts.Site) {
	name := file.Name
	if !filepath.IsAbs(name) {
		name = filepath.Join(u.folder, name)
	}
	if !headers.MatchString(name) {
		at = asserts.Site{File: name, Line: line}
	}
	return at
}

// site returns the line that two attributes of an entry have.
func (u *unit) site(e *dwarf.Entry, file, line dwarf.Attr) (at asserts.Site) {
	of, _ := e.Val(file).(int64)
	if number, ok := e.Val(line).(int64); ok && int(of) < len(u.files) && u.files[of] != nil {
		at = u.line(u.files[of], int(number))
	}
	return at
}

// declaration returns the entry with the line where a function is declared, or nil: lambdas have none.
func (d *debugged) declaration(e *dwarf.Entry) *dwarf.Entry {
	for e != nil && e.Val(dwarf.AttrDeclLine) == nil {
		of, ok := cmp.Or(e.Val(dwarf.AttrAbstractOrigin), e.Val(dwarf.AttrSpecification)).(dwarf.Offset)
		if !ok {
			return nil
		}
		origin := d.data.Reader()
		origin.Seek(of)
		e, _ = origin.Next()
	}
	return e
}

// declared returns the line of a function, or if that is of a header, of the first one that is inlined into it.
func (d *debugged) declared(function elf.Symbol) (at asserts.Site) {
	u := d.unit(function.Value, function.Value+function.Size)
	for _, e := range u.scopes {
		if declaration := d.declaration(e); declaration != nil {
			at = u.site(declaration, dwarf.AttrDeclFile, dwarf.AttrDeclLine)
		} else if code, _ := d.data.Ranges(e); len(code) > 0 {
			at = d.line(code[0][0])
		}
		if at.Line > 0 {
			return at
		}
	}
	return d.line(function.Value)
}

// line returns the line of an address, or if that is of a header's inlined code, that of its call.
func (d *debugged) line(pc uint64) (at asserts.Site) {
	if frames := d.frames(pc); len(frames) > 0 {
		at = asserts.Site{File: frames[0].File, Line: frames[0].Line}
	}
	return at
}

// name returns the name of a function in C++, "" for a lambda.
func (d *debugged) name(e *dwarf.Entry) string {
	if e = d.declaration(e); e == nil {
		return ""
	}
	name, _ := cmp.Or(e.Val(dwarf.AttrLinkageName), e.Val(dwarf.AttrName)).(string)
	return demangle.Filter(name)
}

// frames returns the line of an address, and those of the calls inlined there, innermost first, without those of
// headers; nil if the library does not have them.
func (d *debugged) frames(pc uint64) []asserts.Site {
	u := d.unit(pc, pc+1)
	if len(u.rows) == 0 {
		return nil
	}
	frames := []asserts.Site{}
	at := u.line(u.rows[0].File, u.rows[0].Line)
	for _, e := range slices.Backward(u.scopes) {
		if at.Func = d.name(e); at.Line > 0 {
			frames = append(frames, at)
		}
		at = u.site(e, dwarf.AttrCallFile, dwarf.AttrCallLine)
	}
	if len(u.scopes) == 0 && at.Line > 0 { // a lambda's code, which is inside the function around it
		frames = append(frames, at)
	}
	return frames
}

// Lines returns the lines of source of an offset in a library or a program, nil without debug information for that:
// where code is inlined, those of the calls too, innermost first, but not those of headers of PyTorch and of C++.
func Lines(file string, offset uint64) []asserts.Site {
	d := debug(file)
	if d == nil {
		return nil
	}
	lines, ok := d.lines.Load(offset)
	if !ok {
		lines, _ = d.lines.LoadOrStore(offset, d.frames(offset+d.base))
	}
	return lines.([]asserts.Site)
}

// kernel returns the line of the kernel that the dispatcher calls at an address: a function, or one that a template
// made for a function or a lambda, which are in its name.
func (d *debugged) kernel(pc uint64) (at asserts.Site) {
	if d == nil {
		return at
	}
	i := slices.IndexFunc(d.functions, func(s elf.Symbol) bool { return s.Value == pc })
	if i < 0 {
		return at
	}
	for j, s := range d.functions {
		name, called := strings.CutSuffix(d.names[j], "::operator()")
		if !called {
			name = "&" + name
		}
		_, rest, made := strings.Cut(d.names[i], name)
		if made && strings.IndexAny(rest, ",>") == 0 && !strings.HasPrefix(name, "c10::") {
			at = cmp.Or(at, d.declared(s))
		}
	}
	return cmp.Or(at, d.declared(d.functions[i]))
}

// mapped returns the file that a process has at an address, and the offset from where that begins.
func mapped(process string, address uint64) (path string, offset uint64) {
	maps, _ := os.ReadFile("/proc/" + process + "/maps")
	var begin, from, to, start uint64
	for line := range strings.Lines(string(maps)) {
		_, name, ok := strings.Cut(line, "/")
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &from, &to, new(string), &start); n < 4 || !ok {
			continue
		}
		if start == 0 {
			begin = from
		}
		if from <= address && address < to {
			return "/" + strings.TrimSuffix(name, "\n"), address - begin
		}
	}
	return "", 0
}
