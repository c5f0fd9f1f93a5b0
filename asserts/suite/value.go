package suite

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/schema/yamlfile"
)

// themeDType stands in a recipe for the dtype of the case's theme; such a
// tensor takes its arrangement and form from it too.
const themeDType = "t"

// A valueError is a fault of a value's text, so many bytes from its start.
type valueError struct {
	at   int
	text string
}

func (e *valueError) Error() string { return e.text }

// parseValue reads a value as [Value.recipe] writes it, and besides:
//
//	t[2, 3]               a tensor that follows the theme
//	t[n, 2*n+1]  n-1      sizes and whole numbers made of what symbols stand for
func parseValue(text string, sizes *symbolTable) (Value, error) {
	p := valueParser{text: text, rest: text, sizes: sizes}
	v := p.value()
	if p.skip(); p.err == nil && p.rest != "" {
		p.fail("%q is left over", p.rest)
	}
	if p.err != nil {
		return Value{}, p.err
	}
	return v, nil
}

// Symbols are the names of sizes in a case. Each stands for a size of its own.
type symbolTable struct {
	of    map[string]int64
	round int             // which of the ways to choose them
	sizes map[string]bool // those that are sizes of tensors
}

func newSymbols(round int) *symbolTable {
	return &symbolTable{make(map[string]int64), round, make(map[string]bool)}
}

// symbolSizes are what symbols stand for, one after the other.
var symbolSizes = []int64{2, 3, 4, 5, 8, 1, 6, 7}

func (s *symbolTable) get(name string) int64 {
	n, ok := s.of[name]
	if !ok {
		n = symbolSizes[(len(s.of)+s.round)%len(symbolSizes)]
		s.of[name] = n
	}
	return n
}

type valueParser struct {
	text, rest string
	sizes      *symbolTable
	err        error
}

func (p *valueParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &valueError{len(p.text) - len(p.rest), fmt.Sprintf(format, args...)}
	}
	p.rest = ""
}

// back takes back what was read last, so that a fault is at its start.
func (p *valueParser) back(token string) { p.rest = p.text[len(p.text)-len(p.rest)-len(token):] }

func (p *valueParser) skip() { p.rest = strings.TrimLeft(p.rest, " ") }

func (p *valueParser) accept(token string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

// token takes what stands before one of some bytes.
func (p *valueParser) token(end string) string {
	p.skip()
	n := strings.IndexAny(p.rest, end)
	if n < 0 {
		n = len(p.rest)
	}
	t := p.rest[:n]
	p.rest = p.rest[n:]
	return t
}

const endOfWord = " ,[](){}"

func (p *valueParser) value() Value {
	switch {
	case p.accept("["):
		return Value{Kind: ListValue, List: p.list("]", "list")}
	case p.accept("("):
		return Value{Kind: TupleValue, List: p.list(")", "tuple")}
	case p.accept("{"):
		return p.dict()
	case p.accept("'"):
		return word(p.quoted())
	}
	t := p.token(endOfWord)
	switch {
	case t == "after":
		return p.after()
	case strings.HasPrefix(p.rest, "["):
		return p.tensor(t)
	case strings.HasPrefix(p.rest, "("):
		return p.made(t)
	}
	return p.plain(t)
}

// quoted reads a text to its end; a quote in it is doubled.
func (p *valueParser) quoted() string {
	var b strings.Builder
	for {
		text, rest, ok := strings.Cut(p.rest, "'")
		if !ok {
			p.fail("a text has no end: want '")
			return ""
		}
		b.WriteString(text)
		if p.rest = rest; !strings.HasPrefix(rest, "'") {
			return b.String()
		}
		b.WriteByte('\'')
		p.rest = rest[1:]
	}
}

func (p *valueParser) list(end, what string) []Value {
	var all []Value
	for p.err == nil && !p.accept(end) {
		all = append(all, p.value())
		if !p.accept(",") {
			if !p.accept(end) {
				p.fail("a %s has no end: want %s", what, end)
			}
			break
		}
	}
	return all
}

func (p *valueParser) dict() Value {
	v := Value{Kind: DictValue}
	for p.err == nil && !p.accept("}") {
		if p.accept("'") {
			v.List = append(v.List, word(p.quoted()))
		} else {
			v.List = append(v.List, p.plain(p.token(":"+endOfWord)))
		}
		if !p.accept(":") {
			p.fail("want : between the key of a dict and its value")
			break
		}
		v.List = append(v.List, p.value())
		if !p.accept(",") {
			if !p.accept("}") {
				p.fail("a dict has no end: want }")
			}
			break
		}
	}
	return v
}

// customClasses is what the names of custom classes begin with.
const customClasses = "__torch__.torch.classes."

// made reads what an op returns, or the constructor of a class makes.
func (p *valueParser) made(name string) Value {
	v := Value{Kind: CallValue, Text: name}
	if !strings.Contains(name, "::") {
		v = Value{Kind: NewValue, Text: customClasses + strings.TrimPrefix(name, customClasses)}
	}
	if !strings.ContainsAny(name, ":.") {
		p.back(name)
		p.fail("%s is neither an op, ns::op, nor a class, ns.Class", cmp.Or(name, "("))
		return v
	}
	p.accept("(")
	v.List = p.list(")", "call")
	return v
}

// after reads a call whose first argument is wanted, once it is made.
func (p *valueParser) after() Value {
	name := p.token(endOfWord)
	if !strings.Contains(name, "::") || !strings.HasPrefix(p.rest, "(") {
		p.back(name)
		p.fail("after is followed by a call of an op, ns::op(t[2])")
		return Value{}
	}
	v := p.made(name)
	v.Kind = AfterValue
	if len(v.List) == 0 {
		p.fail("%s is called without an argument to take", name)
	}
	return v
}

// tensorDTypes are the dtypes of the tensors that are made.
var tensorDTypes = slices.Sorted(maps.Keys(dtypes))

// enumerators are what may stand behind a prefix; of devices anything.
var enumerators = map[string]struct {
	kind  Kind
	names []string
}{
	"dtype":   {DTypeValue, append(tensorDTypes, "quint8", "qint8", "qint32", "quint4x2", "quint2x4")},
	"layout":  {LayoutValue, []string{"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"}},
	"format":  {FormatValue, []string{"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}},
	"device":  {DeviceValue, nil},
	"qscheme": {QSchemeValue, []string{"per_tensor_affine", "per_channel_affine"}},
}

var plainWords = []string{"none", "default", "true", "false", "generator"}

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
	if name, text, ok := strings.Cut(t, ":"); ok && enumerators[name].kind != 0 {
		e := enumerators[name]
		if e.names != nil && !slices.Contains(e.names, text) {
			p.back(text)
			p.fail("unknown %s %q%s", name, text, yamlfile.Suggest(text, e.names))
		}
		return Value{Kind: e.kind, Text: text}
	}
	if n, ok := p.number(t, false); ok {
		return integer(n)
	}
	if f, err := strconv.ParseFloat(t, 64); err == nil {
		return real(f)
	}
	if re, ok := strings.CutSuffix(t, "+1i"); ok {
		if f, err := strconv.ParseFloat(re, 64); err == nil {
			return Value{Kind: ComplexValue, Float: f}
		}
	}
	p.back(t)
	p.fail("%q is no value%s", t, yamlfile.Suggest(t, plainWords))
	return Value{}
}

// number reads a whole number made of others and of symbols: 3, n, 2*n+1. A
// symbol is a size of a tensor in the case; sizes holds those of tensors.
func (p *valueParser) number(text string, sizes bool) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	sum := int64(0)
	for i, term := range strings.Split(strings.ReplaceAll(text, "-", "+-1*"), "+") {
		if i == 0 && term == "" && text != "" {
			continue // before a sign
		}
		product := int64(1)
		for atom := range strings.SplitSeq(term, "*") {
			n, err := strconv.ParseInt(atom, 10, 64)
			if err != nil {
				if !symbolName.MatchString(atom) || !sizes && !p.sizes.sizes[atom] {
					return 0, false
				}
				p.sizes.sizes[atom] = true
				n = p.sizes.get(atom)
			}
			product *= n
		}
		sum += product
	}
	return sum, true
}

var symbolName = regexp.MustCompile(`^[A-Za-z]\w*$`)

func (p *valueParser) tensor(dtype string) Value {
	storage := strings.HasPrefix(dtype, "storage:")
	dtype = strings.TrimPrefix(dtype, "storage:")
	v := tensor(dtype)
	if storage {
		v.Kind = StorageValue
	}
	if _, ok := dtypes[dtype]; !ok && dtype != themeDType {
		p.back(dtype)
		p.fail("unknown dtype %q%s", dtype, yamlfile.Suggest(dtype, tensorDTypes))
	}
	p.accept("[")
	for p.err == nil && !p.accept("]") {
		p.skip()
		text := p.token(",]")
		n, ok := p.number(strings.ReplaceAll(text, " ", ""), true)
		if !ok || n < 0 {
			p.back(text)
			p.fail("%q is no size: want a whole number, or one with symbols such as n or 2*n+1", text)
		}
		v.Tensor.Sizes = append(v.Tensor.Sizes, n)
		if !p.accept(",") && !strings.HasPrefix(p.rest, "]") {
			p.fail("the sizes of a tensor have no end: want ]")
		}
	}
	for p.skip(); p.err == nil && p.rest != "" && !strings.ContainsAny(p.rest[:1], ",])}"); p.skip() {
		if p.accept("=") {
			p.values(v.Tensor)
			break
		}
		p.option(v.Tensor, p.token(endOfWord))
	}
	return v
}

// values takes the elements that a tensor starts with.
func (p *valueParser) values(t *TensorSpec) {
	if !p.accept("[") {
		p.fail("the values of a tensor are a list: = [1, 2]")
		return
	}
	begin := p.rest
	for _, e := range p.list("]", "list") {
		switch e.Kind {
		case IntValue:
			t.Values = append(t.Values, float64(e.Int))
		case FloatValue:
			t.Values = append(t.Values, e.Float)
		default:
			p.fail("%v is no number", e)
		}
	}
	if n := size(t.Sizes); int64(len(t.Values)) > n {
		if len(p.sizes.of) == 0 {
			p.rest = begin
			p.fail("%d values for a tensor of %d elements", len(t.Values), n)
		}
		t.Values = t.Values[:n]
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
	name, bound, _ := strings.Cut(option, ":")
	if !slices.Contains(fills, name) {
		p.back(option)
		p.fail("%q says nothing about a tensor%s", option, yamlfile.Suggest(name, slices.Concat(arrangements[1:], forms[1:], fills)))
		return
	}
	t.Fill = Fill{Name: name}
	if low, high, two := strings.Cut(bound, ".."); two {
		t.Fill.Value, t.Fill.High = p.bound(option, low), p.bound(option, high)
	} else if bound != "" {
		t.Fill.Value = p.bound(option, bound)
	}
	if name == "in" && t.Fill.Value > t.Fill.High {
		p.back(option)
		p.fail("%s: want the lower number first", option)
	}
}

func (p *valueParser) bound(option, text string) float64 {
	if n, ok := p.number(text, false); ok {
		return float64(n)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.back(option)
		p.fail("%q is no number", text)
	}
	return f
}

// recipe writes a value as parseValue reads it.
func (v Value) recipe() string {
	all := func(open, end string) string {
		words := make([]string, len(v.List))
		for i, e := range v.List {
			words[i] = e.recipe()
		}
		return open + strings.Join(words, ", ") + end
	}
	switch v.Kind {
	case NoneValue:
		return "none"
	case FloatValue:
		text := strconv.FormatFloat(v.Float, 'g', -1, 64)
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			text += ".0"
		}
		return text
	case TextValue:
		return "'" + strings.ReplaceAll(v.Text, "'", "''") + "'"
	case GeneratorValue:
		return "generator"
	case StorageValue:
		return "storage:" + v.Tensor.String()
	case ListValue:
		return all("[", "]")
	case TupleValue:
		return all("(", ")")
	case CallValue:
		return all(v.Text+"(", ")")
	case AfterValue:
		return all("after "+v.Text+"(", ")")
	case NewValue:
		return all(strings.TrimPrefix(v.Text, customClasses)+"(", ")")
	case DictValue:
		var pairs []string
		for i := 0; i+1 < len(v.List); i += 2 {
			pairs = append(pairs, v.List[i].recipe()+": "+v.List[i+1].recipe())
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	for name, e := range enumerators {
		if e.kind == v.Kind {
			return name + ":" + v.Text
		}
	}
	return v.String()
}
