package schema

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/opassert/opassert/internal/yamlfile"
)

// Limits of a schema, so that no text takes the parser long. In PyTorch types nest three deep, and
// no op has a hundred arguments.
const (
	maxDepth = 32  // types, and default values
	maxItems = 256 // arguments, and returns
)

// A dialect is one of the two spellings of a schema.
type dialect uint8

const (
	// native is the form of native_functions.yaml that torchgen reads.
	native dialect = iota
	// dispatcher is what c10::FunctionSchema prints: more types, alias annotations on lists, "...", any default value.
	dispatcher
)

// ParseOp parses one schema in the form of native_functions.yaml:
//
//	add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//	ns::op(Tensor(a!) self) -> ()
//
// It enforces the rules of torchgen for a schema, but accepts schemas that only cause warnings in [Parse], so that it
// can parse the String of any op of a file. An error is a [scanner.ErrorList] with positions inside the text.
func ParseOp(text string) (*Op, error) { return parseAlone(text, native, noWarnings) }

// ParseDispatcher parses one schema as the dispatcher prints it, with the namespace:
//
//	aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)
//
// It accepts schemas that torchgen would refuse; [LintOp] reports them.
//
// Source: aten/src/ATen/core/function_schema.h, operator<<; and
// torch/csrc/jit/frontend/function_schema_parser.cpp.
func ParseDispatcher(text string) (*Op, error) { return parseAlone(text, dispatcher, nil) }

// A warner gets a format and its arguments about syntax that may be of a newer PyTorch.
type warner func(token.Position, string, ...any)

func parseAlone(text string, d dialect, warn warner) (*Op, error) {
	var errs scanner.ErrorList
	at := func(off int) token.Position { return token.Position{Offset: off, Line: 1, Column: off + 1} }
	op := parseText(text, d, at, &errs, warn)
	if len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	return op, nil
}

// parseText parses one schema; at maps an offset in the text to its position, warn accepts syntax that may be of a
// newer PyTorch, which is an error if warn is nil. It returns nil if it has added an error.
func parseText(text string, d dialect, at func(int) token.Position, errs *scanner.ErrorList, warn warner) *Op {
	p := parser{text: text, dialect: d, at: at, warn: warn}
	op := p.op()
	if p.err == nil { //mutate:equivalent true: the first error stays
		p.checkLossless(op.String())
	}
	if p.err != nil {
		errs.Add(p.err.Pos, p.err.Msg)
		return nil
	}
	if d == native && !checkFunction(op, errs) {
		return nil
	}
	return op
}

// A parser is a recursive-descent parser of one schema. It is lenient about white space: checkLossless compares the
// text with its printed form at the end. The first error is kept and moves the parser to the end of the text.
type parser struct {
	text    string
	off     int
	dialect dialect
	at      func(int) token.Position
	warn    warner
	err     *scanner.Error
}

func (p *parser) fail(off int, format string, args ...any) {
	if p.err == nil {
		p.err = &scanner.Error{Pos: p.at(off), Msg: fmt.Sprintf(format, args...)}
	}
	p.off = len(p.text)
}

// expected reports a syntax error with the expected token.
func (p *parser) expected(what string) {
	p.skipSpace()
	found := "the end of the schema"
	if p.off < len(p.text) {
		found = fmt.Sprintf("%q", yamlfile.Clip(p.text[p.off:]))
	}
	p.fail(p.off, "expected %s, found %s", what, found)
}

// checkLossless requires that the schema prints back to its text.
func (p *parser) checkLossless(printed string) {
	if printed == p.text {
		return
	}
	same := 0
	for same < min(len(printed), len(p.text)) && printed[same] == p.text[same] {
		same++
	}
	p.fail(same, "write it as torchgen prints it: %s", printed)
}

func (p *parser) skipSpace() { p.off = len(p.text) - len(strings.TrimLeft(p.text[p.off:], " \t\n")) }

// peek reports whether the token comes next.
func (p *parser) peek(tok string) bool {
	p.skipSpace()
	return strings.HasPrefix(p.text[p.off:], tok)
}

// accept moves past the token if it comes next.
func (p *parser) accept(tok string) bool {
	if !p.peek(tok) {
		return false
	}
	p.off += len(tok)
	return true
}

func (p *parser) expect(tok string) {
	if !p.accept(tok) {
		p.expected(fmt.Sprintf("%q", tok))
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }

func (p *parser) identifier(what string) string {
	p.skipSpace()
	if p.off < len(p.text) && isDigit(p.text[p.off]) {
		p.expected(what)
		return ""
	}
	return p.word(what, isAlphanumeric)
}

// word reads one or more bytes of a sort.
func (p *parser) word(what string, is func(byte) bool) string {
	start := p.off
	for p.off < len(p.text) && is(p.text[p.off]) {
		p.off++
	}
	if p.off == start {
		p.expected(what)
	}
	return p.text[start:p.off]
}

// op = [ identifier "::" ] name "(" args ")" "->" returns .
func (p *parser) op() *Op {
	op := &Op{Pos: p.at(0), Namespace: "aten"}
	p.namespace(op)
	op.Func.Name = p.name()
	p.expect("(")
	p.args(&op.Func)
	p.expect("->")
	p.returns(&op.Func)
	p.skipSpace()
	if p.off < len(p.text) {
		p.expected("the end of the schema")
	}
	return op
}

func (p *parser) namespace(op *Op) {
	start := p.off
	name := p.identifier("an operator name")
	if p.accept("::") {
		op.Namespace, op.Qualified = name, true
		return
	}
	if p.dialect == dispatcher {
		p.fail(start, "the dispatcher's operators have a namespace, as in aten::add")
		return
	}
	p.off = start
}

// args = [ arg { "," arg } ] ")" ; arg = "*" | "..." | argument .
func (p *parser) args(f *Function) {
	kwargOnly := false
	p.items(")", func() (last bool) {
		if f.Args == nil {
			f.Args = make([]Argument, 0, min(1+strings.Count(p.text[p.off:], ","), maxItems))
		}
		p.skipSpace()
		start := p.off
		switch {
		case p.dialect == dispatcher && p.accept("..."):
			f.Vararg = true
		case p.accept("*"):
			if kwargOnly {
				p.fail(start, "a second *: keyword-only arguments begin only once")
			}
			kwargOnly = true
		default:
			if len(f.Args) == maxItems {
				p.fail(start, "the schema has more than %d arguments", maxItems)
				return true
			}
			a := p.argument()
			a.KwargOnly = kwargOnly
			a.Out = kwargOnly && a.writes()
			f.Args = append(f.Args, a)
		}
		return f.Vararg
	})
}

// argument = type name [ "=" value ] .
func (p *parser) argument() Argument {
	p.skipSpace()
	a := Argument{Pos: p.at(p.off)}
	a.Type, a.Alias = p.typ(0)
	a.Name = p.identifier("the argument's name")
	if p.accept("=") {
		a.Default = p.value()
	}
	return a
}

// returns = "..." | return | "(" [ return { "," return } [ "," "..." ] ] ")" .
func (p *parser) returns(f *Function) {
	if p.dialect == dispatcher && p.accept("...") {
		f.Varret = true
		return
	}
	if !p.accept("(") {
		f.Returns = []Return{p.ret()}
		return
	}
	p.items(")", func() (last bool) {
		switch {
		case p.dialect == dispatcher && p.accept("..."):
			f.Varret = true
		case len(f.Returns) == maxItems:
			p.fail(p.off, "the schema has more than %d returns", maxItems)
		default:
			f.Returns = append(f.Returns, p.ret())
		}
		return f.Varret
	})
}

// return = type [ name ] .
func (p *parser) ret() Return {
	p.skipSpace()
	r := Return{Pos: p.at(p.off)}
	r.Type, r.Alias = p.typ(0)
	p.skipSpace()
	if p.off < len(p.text) && isLetter(p.text[p.off]) {
		r.Name = p.identifier("the return's name")
	}
	return r
}

// value returns the text of a default value unchanged.
func (p *parser) value() string {
	p.skipSpace()
	start := p.off
	p.skipValue(0)
	text := p.text[start:p.off]
	if p.dialect == native {
		if i := strings.IndexAny(text, " ="); i >= 0 {
			p.fail(start+i, "a default value cannot contain %q: torchgen splits a schema there", text[i])
		}
	}
	return text
}

// value = string | "[" values "]" | "(" values ")" | "{" values "}" | word [ "(" values ")" | "[" values "]" ] .
func (p *parser) skipValue(depth int) {
	p.skipSpace()
	if depth > maxDepth {
		p.fail(p.off, "the default value is nested deeper than %d", maxDepth)
		return
	}
	if p.off == len(p.text) {
		p.expected("a default value")
		return
	}
	switch c := p.text[p.off]; c {
	case '"', '\'':
		p.skipString(c)
	case '[', '(', '{':
		p.skipValues(depth)
	default:
		p.skipWord(depth)
	}
}

// skipValues skips values between the brackets that begin here.
func (p *parser) skipValues(depth int) {
	open := p.text[p.off]
	p.off++
	p.items(map[byte]string{'[': "]", '(': ")", '{': "}"}[open], func() (last bool) {
		p.skipValue(depth + 1)
		return false
	})
}

// items reads items with commas between, up to and with shut.
func (p *parser) items(shut string, item func() (last bool)) {
	if p.accept(shut) {
		return
	}
	for !item() && p.accept(",") {
	}
	p.expect(shut)
}

func (p *parser) skipString(quote byte) {
	start := p.off
	for p.off++; p.off < len(p.text); p.off++ {
		switch p.text[p.off] {
		case '\\':
			p.off++
		case quote:
			p.off++
			return
		}
	}
	p.fail(start, "the string does not end")
}

// skipWord skips a number or a name. The dispatcher also prints calls, subscripts and devices:
// annotate(List[int], []), cuda:0.
func (p *parser) skipWord(depth int) {
	others := "+-."
	if p.dialect == dispatcher {
		others += ":"
	}
	p.word("a default value", func(c byte) bool { return isAlphanumeric(c) || strings.IndexByte(others, c) >= 0 })
	if p.dialect == dispatcher && p.off < len(p.text) && strings.IndexByte("([", p.text[p.off]) >= 0 {
		p.skipValues(depth)
	}
}
