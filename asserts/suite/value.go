package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// themeDType stands in a recipe for the dtype of the case's theme; such a
// tensor takes its arrangement and form from it too.
const themeDType = "t"

// parseValue reads a value as [Value.String] writes it, but for:
//
//	'text'                text
//	t[2, 3]               a tensor that follows the theme
//	aten::ones([2])       what the op returns for these arguments
//	dtype:float32         a ScalarType; layout:, format:, device:, qscheme: likewise
func parseValue(text string) (Value, error) {
	p := valueParser{rest: text}
	v := p.value()
	if p.skip(); p.err == nil && p.rest != "" {
		p.fail("%q is left over", p.rest)
	}
	if p.err != nil {
		return Value{}, fmt.Errorf("%s: %w", text, p.err)
	}
	return v, nil
}

type valueParser struct {
	rest string
	err  error
}

func (p *valueParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = ""
}

func (p *valueParser) skip() { p.rest = strings.TrimLeft(p.rest, " ") }

func (p *valueParser) accept(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

// token takes what stands before a space, a comma or a bracket.
func (p *valueParser) token() string {
	p.skip()
	n := strings.IndexAny(p.rest, " ,[]()")
	if n < 0 {
		n = len(p.rest)
	}
	t := p.rest[:n]
	p.rest = p.rest[n:]
	return t
}

func (p *valueParser) value() Value {
	if p.accept("[") {
		return p.list("]")
	}
	if p.accept("'") {
		return p.text()
	}
	t := p.token()
	if strings.HasPrefix(p.rest, "[") {
		return p.tensor(t)
	}
	if p.accept("(") {
		return Value{Kind: CallValue, Text: t, List: p.list(")").List}
	}
	return p.plain(t)
}

// text takes what stands before a quote; two of them are one in the text.
func (p *valueParser) text() Value {
	text, rest, ok := strings.Cut(p.rest, "'")
	if p.rest = rest; !ok {
		p.fail("a text has no end")
	} else if p.rest != "" && p.rest[0] == '\'' {
		p.rest = p.rest[1:]
		return word(text + "'" + p.text().Text)
	}
	return word(text)
}

// list takes values up to what closes them.
func (p *valueParser) list(end string) Value {
	v := Value{Kind: ListValue}
	for p.err == nil && !p.accept(end) {
		v.List = append(v.List, p.value())
		if !p.accept(",") {
			if !p.accept(end) {
				p.fail("a list has no end")
			}
			break
		}
	}
	return v
}

var prefixed = map[string]Kind{
	"dtype": DTypeValue, "layout": LayoutValue, "format": FormatValue, "device": DeviceValue, "qscheme": QSchemeValue,
}

func (p *valueParser) plain(t string) Value {
	switch t {
	case "none":
		return none()
	case "default":
		return Value{}
	case "true", "false":
		return truth(t == "true")
	case "generator":
		return Value{Kind: GeneratorValue, Int: 7}
	}
	if name, text, ok := strings.Cut(t, ":"); ok && prefixed[name] != 0 {
		return Value{Kind: prefixed[name], Text: text}
	}
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		return integer(n)
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil {
		p.fail("%q is no value", t)
	}
	return real(f)
}

func (p *valueParser) tensor(dtype string) Value {
	v := tensor(dtype)
	if _, ok := dtypes[dtype]; !ok && dtype != themeDType {
		p.fail("unknown dtype %q", dtype)
	}
	p.accept("[")
	for _, e := range p.list("]").List {
		if e.Kind != IntValue {
			p.fail("a size is a whole number")
		}
		v.Tensor.Sizes = append(v.Tensor.Sizes, e.Int)
	}
	for p.skip(); p.err == nil && p.rest != "" && !strings.ContainsAny(p.rest[:1], ",])"); p.skip() {
		if p.accept("=") {
			p.values(v.Tensor)
			break
		}
		p.option(v.Tensor, p.token())
	}
	return v
}

// values takes the elements that a tensor starts with.
func (p *valueParser) values(t *TensorSpec) {
	if !p.accept("[") {
		p.fail("the values of a tensor are a list: = [1, 2]")
		return
	}
	for _, e := range p.list("]").List {
		switch e.Kind {
		case IntValue:
			t.Values = append(t.Values, float64(e.Int))
		case FloatValue:
			t.Values = append(t.Values, e.Float)
		default:
			p.fail("%v is no number", e)
		}
	}
	if int64(len(t.Values)) > size(t.Sizes) {
		p.fail("%d values for a tensor of %d elements", len(t.Values), size(t.Sizes))
	}
}

func (p *valueParser) option(t *TensorSpec, option string) {
	if i := slices.Index(arrangements, option); i > 0 {
		t.Arrangement = Arrangement(i)
		return
	}
	if i := slices.Index(forms, option); i > 0 {
		t.Form = Form(i)
		return
	}
	name, number, _ := strings.Cut(option, ":")
	if !slices.Contains(fills, name) {
		p.fail("%q says nothing about a tensor", option)
		return
	}
	t.Fill = Fill{Name: name}
	if number != "" {
		f, err := strconv.ParseFloat(number, 64)
		if err != nil {
			p.fail("%q is no number", number)
		}
		t.Fill.Value = f
	}
}
