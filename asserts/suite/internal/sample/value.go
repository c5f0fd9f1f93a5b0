package sample

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/yamlfile"
)

// ThemeDType is, in a recipe, the dtype of the case's theme; such a tensor also has the theme's arrangement and form.
const ThemeDType = "t"

// A ValueError is an error in a value's text, with its offset.
type ValueError struct {
	At   int
	text string
}

func (e *ValueError) Error() string { return e.text }

// ParseValue reads a value as [Value.recipe] writes it, and besides:
//
//	t[2, 3]               a tensor that follows the theme
//	t[n, 2*n+1]  n-1      sizes and whole numbers computed from symbols
//	same:x  view:xs[1]    the value of an earlier argument, or a view of its storage
func ParseValue(text string, sizes *SymbolTable) (Value, error) {
	p := valueParser{text: text, rest: text, sizes: sizes}
	v := p.value()
	if p.skip(); p.rest != "" {
		p.fail("unexpected %q after the value", p.rest)
	}
	if p.err != nil {
		return Value{}, p.err
	}
	return v, nil
}

// A SymbolTable has the names of sizes in a case. Each has a different size.
type SymbolTable struct {
	Of    map[string]int64
	round int             // number of the choice of sizes
	Sizes map[string]bool // symbols that are sizes of tensors
	Any   bool            // others are accepted, too, while those of sizes are collected
}

func NewSymbols(round int) *SymbolTable {
	return &SymbolTable{Of: make(map[string]int64), round: round, Sizes: make(map[string]bool)}
}

// SymbolSizes are the values of symbols, in order.
var SymbolSizes = []int64{2, 3, 4, 5, 8, 1, 6, 7}

func (s *SymbolTable) Get(name string) int64 {
	n, ok := s.Of[name]
	if !ok {
		n = SymbolSizes[(len(s.Of)+s.round)%len(SymbolSizes)]
		s.Of[name] = n
	}
	return n
}

type valueParser struct {
	text, rest string
	sizes      *SymbolTable
	depth      int
	err        error
}

// maxDepth is the maximum nesting of lists, tuples, dicts and calls.
const maxDepth = 32

// fail records the first error, and discards the rest of the text.
func (p *valueParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &ValueError{len(p.text) - len(p.rest), fmt.Sprintf(format, args...)}
	}
	p.rest = ""
}

// back unreads the last token, so that an error has its position.
func (p *valueParser) back(token string) { p.rest = p.text[len(p.text)-len(p.rest)-len(token):] }

// failAt is fail at the position of the last token.
func (p *valueParser) failAt(token, format string, args ...any) {
	p.back(token)
	p.fail(format, args...)
}

func (p *valueParser) skip() { p.rest = strings.TrimLeft(p.rest, " ") }

func (p *valueParser) accept(token string) (ok bool) {
	p.skip()
	p.rest, ok = strings.CutPrefix(p.rest, token)
	return ok
}

// token reads the text up to one of some bytes.
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
	p.depth++
	defer func() { p.depth-- }()
	p.skip()
	if ref := Reference.FindString(p.rest); ref != "" {
		p.accept(ref)
		return Value{Kind: SameValue, Text: ref}
	}
	switch {
	case p.depth > maxDepth:
		p.fail("more than %d nested lists", maxDepth)
		return Value{}
	case p.accept("["):
		return Value{Kind: ListValue, List: p.list("]", "list")}
	case p.accept("("):
		return Value{Kind: TupleValue, List: p.list(")", "tuple")}
	case p.accept("{"):
		return p.dict()
	case p.accept("'"):
		return Text(p.quoted())
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

func (p *valueParser) quoted() string {
	var b strings.Builder
	for {
		text, rest, ok := strings.Cut(p.rest, "'")
		if !ok {
			p.fail("the text is not closed: want '")
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

// items reads items with commas between, to the end of their container.
func (p *valueParser) items(end, what string, read func()) {
	for !p.accept(end) {
		read()
		if !p.accept(",") {
			if !p.accept(end) {
				p.fail("the %s is not closed: want %s", what, end)
			}
			break
		}
	}
}

func (p *valueParser) list(end, what string) (all []Value) {
	p.items(end, what, func() { all = append(all, p.value()) })
	return all
}

func (p *valueParser) dict() Value {
	v := Value{Kind: DictValue}
	keys := make(map[string]bool)
	p.items("}", "dict", func() {
		key := p.key()
		if keys[key.Recipe()] {
			p.fail("the dict has the key %s twice", key.Recipe())
		}
		keys[key.Recipe()] = true
		if !p.accept(":") {
			p.fail("want : between a dict's key and value")
		}
		v.List = append(v.List, key, p.value())
	})
	return v
}

func (p *valueParser) key() Value {
	if p.accept("'") {
		return Text(p.quoted())
	}
	return p.plain(p.token(":" + endOfWord))
}

// CustomClasses is the prefix of the names of custom classes.
const CustomClasses = "__torch__.torch.classes."

// made reads a call of an op, or of the constructor of a class.
func (p *valueParser) made(name string) Value {
	v := Value{Kind: CallValue, Text: name}
	if !strings.Contains(name, "::") {
		v = Value{Kind: NewValue, Text: CustomClasses + strings.TrimPrefix(name, CustomClasses)}
	}
	if !strings.ContainsAny(name, ":.") {
		p.failAt(name, "%s is neither an op, ns::op, nor a class, ns.Class", cmp.Or(name, "("))
		return v
	}
	p.accept("(")
	v.List = p.list(")", "call")
	return v
}

// after reads a call whose first argument is the value, after the call.
func (p *valueParser) after() Value {
	name := p.token(endOfWord)
	if !strings.Contains(name, "::") || !strings.HasPrefix(p.rest, "(") {
		p.failAt(name, "after is followed by a call of an op, ns::op(t[2])")
		return Value{}
	}
	v := p.made(name)
	v.Kind = AfterValue
	if len(v.List) == 0 {
		p.fail("%s has no argument whose value to use", name)
	}
	return v
}

// enumerators are the names allowed after a prefix; for devices any.
var enumerators = map[string]struct {
	kind  ValueKind
	names []string
}{
	"dtype":   {DTypeValue, tensor.DTypeNames(func(tensor.DType) bool { return true })},
	"layout":  {LayoutValue, tensor.Layouts},
	"format":  {FormatValue, tensor.MemoryFormats},
	"device":  {DeviceValue, nil},
	"qscheme": {QSchemeValue, tensor.QSchemes},
}

var plainWords = []string{"none", "default", "true", "false", "generator"}

func (p *valueParser) plain(t string) Value {
	switch t {
	case "none":
		return None()
	case "default":
		return Value{}
	case "true", "false":
		return Bool(t == "true")
	case "generator":
		return Value{Kind: GeneratorValue, Int: 7}
	}
	if name, text, ok := strings.Cut(t, ":"); ok && enumerators[name].kind != 0 {
		e := enumerators[name]
		if e.names != nil && !slices.Contains(e.names, text) {
			p.failAt(text, "unknown %s %q%s", name, text, yamlfile.Suggest(text, e.names))
		}
		return Value{Kind: e.kind, Text: text}
	}
	if n, ok := p.number(t, false); ok {
		return Int(n)
	}
	if f, err := strconv.ParseFloat(t, 64); err == nil {
		return Float(f)
	}
	if c, err := strconv.ParseComplex(t, 128); err == nil {
		return Value{Kind: ComplexValue, Complex: c}
	}
	hint := yamlfile.Suggest(t, plainWords)
	switch {
	case hint != "":
	case t == "" && p.rest == "":
		hint = ": want one; write None, or leave out the argument"
	case expression.MatchString(t):
		hint = ": put a text in quotes, '" + t + "'; a name of more than one letter must be the size of a tensor here"
	}
	p.failAt(t, "%q is not a value%s", t, hint)
	return Value{}
}

var (
	// A Reference is the value of another argument, or one of its tensors.
	Reference  = regexp.MustCompile(`^(?:same|view):\w+(?:\[\d+\])?`)
	expression = regexp.MustCompile(`^[A-Za-z][\w+*-]*$`)
)

// number reads an integer expression of others and of symbols: 3, n, 2*n+1. A symbol is the size of a tensor in the
// case, or has one letter; sizes tells that the number is one. Numbers greater than any product of sizes are refused.
func (p *valueParser) number(text string, sizes bool) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	const most = 1 << 53
	sum := 0.0
	for i, term := range strings.Split(strings.ReplaceAll(text, "-", "+-1*"), "+") {
		if i == 0 && term == "" && text != "" {
			continue // before a sign
		}
		product := 1.0
		for atom := range strings.SplitSeq(term, "*") {
			n, err := strconv.ParseInt(atom, 10, 64)
			if err != nil {
				if !p.symbol(atom, sizes) {
					return 0, false
				}
				n = p.sizes.Get(atom)
			}
			product *= float64(n)
		}
		sum += product
	}
	return int64(sum), math.Abs(sum) < most
}

var symbolName = regexp.MustCompile(`^[A-Za-z]\w*$`)

// symbol reports whether a word is a symbol here.
func (p *valueParser) symbol(word string, sizes bool) bool {
	if _, err := strconv.ParseFloat(word, 64); err == nil || !symbolName.MatchString(word) ||
		slices.Contains(plainWords, word) {
		return false
	}
	if sizes {
		p.sizes.Sizes[word] = true
	}
	return len(word) == 1 || p.sizes.Any || p.sizes.Sizes[word]
}

func (p *valueParser) tensor(dtype string) Value {
	storage := strings.HasPrefix(dtype, "storage:")
	dtype = strings.TrimPrefix(dtype, "storage:")
	v := Tensor(dtype)
	if storage {
		v.Kind = StorageValue
	}
	if !slices.Contains(tensorDTypes, dtype) && dtype != ThemeDType {
		p.failAt(dtype, "unknown dtype %q%s", dtype, suggestDType(dtype))
	}
	p.accept("[")
	for p.err == nil && !p.accept("]") {
		p.skip()
		text := p.token(",]")
		n, ok := p.number(strings.ReplaceAll(text, " ", ""), true)
		if p.back(text); !ok {
			p.fail("%q is not a size: want a whole number, or one with symbols such as n or 2*n+1", text)
		} else if n < 0 {
			p.fail("the size %s is below 0%s", text, p.sizes.where())
		}
		p.accept(text)
		v.Tensor.Sizes = append(v.Tensor.Sizes, n)
		if !p.accept(",") && !strings.HasPrefix(p.rest, "]") {
			p.fail("the sizes of a tensor are not closed: want ]")
		}
	}
	if n := elements(v.Tensor.Sizes); n > mostOwn {
		p.fail("a tensor of %g elements%s: want at most %d", n, p.sizes.where(), mostOwn)
	}
	given := make(map[string]string)
	for p.skip(); p.rest != "" && !strings.ContainsAny(p.rest[:1], ",])}"); p.skip() {
		if p.accept("=") {
			p.values(v.Tensor)
			break
		}
		option := p.token(endOfWord)
		if what := p.option(v.Tensor, option); given[what] != "" {
			p.failAt(option, "%s and %s can't be combined: both are a %s", given[what], option, what)
		} else {
			given[what] = option
		}
	}
	if legal := v.Clone().Tensor; dtype != ThemeDType {
		if legal.Legal(); legal.Form != v.Tensor.Form && v.Tensor.Form != engine.Strided {
			p.fail("%s%s can't be %s", dtype, sizesText(v.Tensor.Sizes), v.Tensor.Form)
		}
	}
	return v
}

// mostOwn is the maximum number of elements of a tensor in a user's case: a worker has memory for a few such tensors.
const mostOwn = 1 << 24

func elements(sizes []int64) float64 {
	n := 1.0
	for _, s := range sizes {
		n *= float64(s)
	}
	return n
}

// where returns the sizes of symbols, for an error that depends on them.
func (s *SymbolTable) where() string {
	words := slicesx.Map(slices.Sorted(maps.Keys(s.Of)),
		func(name string) string { return fmt.Sprintf("%s is %d", name, s.Of[name]) })
	if len(words) == 0 {
		return ""
	}
	return " where " + strings.Join(words, " and ")
}

// suggestDType returns a dtype for an unknown name, such as those of C++.
func suggestDType(name string) string {
	if known, ok := tensor.DTypeOfWord(strings.TrimPrefix(name, "torch.")); ok {
		return fmt.Sprintf("; did you mean %s?", known)
	}
	return yamlfile.Suggest(name, tensorDTypes)
}

// values reads the first elements of a tensor.
func (p *valueParser) values(t *TensorSpec) {
	if !p.accept("[") {
		p.fail("the values of a tensor are a list: = [1, 2]")
		return
	}
	begin := p.rest
	for _, e := range p.list("]", "list") {
		n := e.Float
		switch e.Kind {
		case IntValue, BoolValue:
			n = float64(e.Int)
		case FloatValue:
		default:
			p.fail("%s is not a number", e.Recipe())
		}
		d := Element(t.DType)
		if largest, lowest, _ := d.Limits(); counts(d) && (n != math.Trunc(n) || n < lowest || n > largest) {
			p.rest = begin
			p.fail("%s is not of dtype %s", e.Recipe(), t.DType)
		}
		t.Values = append(t.Values, n)
	}
	if n := tensor.Numel(t.Sizes); int64(len(t.Values)) > n {
		if len(p.sizes.Of) == 0 {
			p.rest = begin
			p.fail("%d values for a tensor of %d elements", len(t.Values), n)
		}
		t.Values = t.Values[:n]
	}
}

// option reads an option after a tensor's sizes, and returns its name.
func (p *valueParser) option(t *TensorSpec, option string) string {
	if i := slices.Index(tensor.Arrangements, option); i > 0 {
		t.Arrangement = tensor.Arrangement(i)
		return "layout in memory"
	}
	if i := slices.Index(tensor.Forms, option); i > 0 {
		t.Form = engine.Form(i)
		return "form"
	}
	name, bound, given := strings.Cut(option, ":")
	if !slices.Contains(fills, name) {
		p.failAt(option, "%q is not an option of a tensor%s", option,
			yamlfile.Suggest(name, slices.Concat(tensor.Arrangements[1:], tensor.Forms[1:], fills)))
		return ""
	}
	form, bounded := bounds[name]
	low, high, two := strings.Cut(bound, "..")
	if given != bounded || two != (name == "in") {
		p.failAt(option, "want %s", cmp.Or(form, name))
		return ""
	}
	t.Fill = Fill{Name: name}
	if bounded {
		t.Fill.Value = p.bound(option, low)
	}
	if two {
		t.Fill.High = p.bound(option, high)
	}
	d := Element(t.DType)
	switch largest, lowest, _ := d.Limits(); {
	case name == "in" && !(t.Fill.Value <= t.Fill.High):
		p.failAt(option, "%s: want the lower number first", option)
	case name == "below" && !(t.Fill.Value >= 1), name == "sum" && !(t.Fill.Value >= 0), name == "ascending" &&
		!(t.Fill.Value >= 0):
		p.failAt(option, "%s has no such numbers%s: they begin with 0", option, p.sizes.where())
	case counts(d) && (t.Fill.Value < lowest || t.Fill.Value-1 > largest):
		p.failAt(option, "%s: %s has no such numbers", option, t.DType)
	}
	return "way to fill it"
}

// bounds are the fills with numbers, in their text form.
var bounds = map[string]string{"below": "below:5", "const": "const:1", "in": "in:0.5..2", "ascending": "ascending:9",
	"sum": "sum:9"}

func (p *valueParser) bound(option, text string) float64 {
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	n, ok := p.number(text, false)
	if !ok {
		p.failAt(option, "%q is not a number: want one, or the name of a size in this case", text)
	}
	return float64(n)
}

// Recipe returns the value in the form that ParseValue reads.
func (v Value) Recipe() string {
	all := func(open, end string) string { return open + slicesx.Join(v.List, ", ", Value.Recipe) + end }
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
	case SameValue:
		return v.Text
	case ListValue:
		return all("[", "]")
	case TupleValue:
		return all("(", ")")
	case CallValue:
		return all(v.Text+"(", ")")
	case AfterValue:
		return all("after "+v.Text+"(", ")")
	case NewValue:
		return all(strings.TrimPrefix(v.Text, CustomClasses)+"(", ")")
	case DictValue:
		var pairs []string
		for i := 0; i+1 < len(v.List); i += 2 {
			pairs = append(pairs, v.List[i].Recipe()+": "+v.List[i+1].Recipe())
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
