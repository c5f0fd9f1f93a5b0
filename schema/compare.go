package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
)

// A Mismatch is a part in which two schemas of one op differ.
type Mismatch struct {
	Kind string // "arguments", "names", "types", "alias sets" or "default values"
	Text string // "default value of p: 2.0 against 3.0"
}

// Compare returns the differences of two schemas, by meaning and not by
// spelling: Dimname is str and DeviceIndex int to the dispatcher, 1 and 1.0 are
// one default value of a float, Mean and 1 one of an int, 'a' and "a" one of a
// str, and alias sets may have other letters.
//
// Source: torch/csrc/jit/frontend/schema_type_parser.cpp, parseType;
// function_schema_parser.cpp, parseDefaultValue.
func Compare(a, b Function) []Mismatch {
	c := comparer{aSets: map[string]int{}, bSets: map[string]int{}}
	if len(a.Args) != len(b.Args) || len(a.Returns) != len(b.Returns) || a.Vararg != b.Vararg || a.Varret != b.Varret {
		c.add("arguments", "%d arguments and %d returns against %d and %d", len(a.Args), len(a.Returns), len(b.Args), len(b.Returns))
		return c.found
	}
	for i := range a.Args {
		c.argument(a.Args[i], b.Args[i])
	}
	for i := range a.Returns {
		what := fmt.Sprintf("return %d", i)
		c.same("names", "name of "+what, a.Returns[i].Name, b.Returns[i].Name)
		c.typed(what, a.Returns[i].Type, b.Returns[i].Type, a.Returns[i].Alias, b.Returns[i].Alias)
	}
	return c.found
}

type comparer struct {
	found        []Mismatch
	aSets, bSets map[string]int // alias sets, numbered as they come
}

func (c *comparer) add(kind, format string, args ...any) {
	c.found = append(c.found, Mismatch{kind, fmt.Sprintf(format, args...)})
}

func (c *comparer) same(kind, what, a, b string) {
	if a != b {
		c.add(kind, "%s: %s against %s", what, cmp.Or(a, "none"), cmp.Or(b, "none"))
	}
}

func (c *comparer) argument(a, b Argument) {
	c.same("names", "name of an argument", a.Name, b.Name)
	if a.KwargOnly != b.KwargOnly {
		c.add("arguments", "%s is keyword-only in one of them", a.Name)
	}
	c.typed(a.Name, a.Type, b.Type, a.Alias, b.Alias)
	if meaning(a.Type, a.Default) != meaning(b.Type, b.Default) {
		c.same("default values", "default value of "+a.Name, a.Default, b.Default)
	}
}

func (c *comparer) typed(what string, a, b Type, aAlias, bAlias *Alias) {
	if a.dispatched().String() != b.dispatched().String() {
		c.same("types", "type of "+what, a.String(), b.String())
	}
	if numbered(aAlias, c.aSets) != numbered(bAlias, c.bSets) {
		c.same("alias sets", "alias sets of "+what, aliasText(aAlias), aliasText(bAlias))
	}
}

func aliasText(a *Alias) string {
	if a == nil {
		return ""
	}
	return "(" + a.String() + ")"
}

// numbered prints an annotation with numbers for its sets.
func numbered(a *Alias, sets map[string]int) string {
	text := ""
	for ; a != nil; a = a.Outer {
		plain := Alias{Write: a.Write, Before: numbers(a.Before, sets), After: numbers(a.After, sets)}
		text += fmt.Sprintf("%d(%v)", a.Depth, plain)
	}
	return text
}

func numbers(letters []string, sets map[string]int) []string {
	var list []string
	for _, l := range letters {
		if l != "*" && sets[l] == 0 {
			sets[l] = len(sets) + 1
		}
		list = append(list, strconv.Itoa(sets[l]))
	}
	slices.Sort(list)
	return list
}

// dispatched returns the type as the dispatcher represents it.
func (t Type) dispatched() Type {
	switch t.Name {
	case "Dimname":
		t.Name = "str"
	case "DeviceIndex":
		t.Name = "int"
	}
	t.Elem = slicesx.Map(t.Elem, Type.dispatched)
	return t
}

// constants are the names that a schema has for numbers.
//
// Source: aten/src/ATen/core/Reduction.h.
var constants = map[string]tensor.Names{
	"int": {1: "Mean", 2: "Sum"}, "Layout": tensor.Layouts, "MemoryFormat": tensor.MemoryFormats,
}

// meaning returns a default value in its normal form.
func meaning(t Type, value string) string {
	t = t.dispatched()
	switch {
	case t.Kind == Optional:
		return meaning(t.Elem[0], value)
	case t.Kind == List:
		return listMeaning(t, value)
	}
	switch t.Name {
	case "float":
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	case "int", "SymInt", "Layout", "MemoryFormat":
		if number, ok := constants[strings.TrimPrefix(t.Name, "Sym")].Number(value); ok {
			return strconv.FormatInt(number, 10)
		}
	case "Scalar":
		return scalarMeaning(value)
	case "bool":
		if b, err := strconv.ParseBool(value); err == nil {
			return strconv.FormatBool(b)
		}
	case "str", "Device":
		return requoted(value)
	}
	return value
}

// scalarMeaning distinguishes the types of numbers: 1 and 1.0 promote differently.
func scalarMeaning(value string) string {
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value
	}
	return "float " + meaning(Type{Name: "float"}, value)
}

// listMeaning returns the list's elements; for a list of a fixed size one value stands for all.
func listMeaning(t Type, value string) string {
	inner, isList := strings.CutPrefix(value, "[")
	if !isList {
		if t.Size == 0 {
			return meaning(t.Elem[0], value)
		}
		return "[" + strings.Repeat(meaning(t.Elem[0], value)+",", t.Size) + "]"
	}
	inner = strings.TrimSuffix(inner, "]")
	var b strings.Builder
	for item := range strings.SplitSeq(inner, ",") {
		b.WriteString(meaning(t.Elem[0], strings.TrimSpace(item)) + ",")
	}
	return "[" + b.String() + "]"
}

// requoted returns a string with Go's quotes and escapes.
func requoted(value string) string {
	for _, quote := range []string{`"`, "'"} {
		inner, quoted := strings.CutPrefix(value, quote)
		if !quoted {
			continue
		}
		inner = strings.TrimSuffix(inner, quote)
		if text, err := strconv.Unquote(`"` + doubleQuoted.Replace(inner) + `"`); err == nil {
			return strconv.Quote(text)
		}
	}
	return value
}

// doubleQuoted replaces single quotes around strings by double quotes.
var doubleQuoted = strings.NewReplacer(`\\`, `\\`, `\"`, `\"`, `\'`, "'", `"`, `\"`)
