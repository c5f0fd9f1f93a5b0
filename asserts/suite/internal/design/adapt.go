package design

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

func NewAdapter(o engine.Operator, rng *rand.Rand, th theme) *adapter {
	return &adapter{op: o.Schema, makers: make(map[string][]schema.Argument), stored: o.Texts, undone: o.Inverse, rng: rng,
		th: th, seen: make(map[string]int), used: make(map[tried]int), size: make(map[string]int64)}
}

// mostUses is how often a rule is used on the same error: many rules choose at random.
const mostUses = 4

// Adapt returns the next case to try after c threw an error.
func (a *adapter) Adapt(c *sample.Case, text string) *sample.Case {
	next, ok := a.Revise(c, text)
	if !ok {
		a.mutate(next, text)
	}
	return next
}

// Revise changes a case by the first rule that applies to each clause of an error.
func (a *adapter) Revise(c *sample.Case, text string) (*sample.Case, bool) {
	a.seen[readError(text).key]++
	next, changed := c.Clone(), false
	for _, clause := range a.revision(next, text).clauses() {
		changed = a.revision(next, clause).byRule() || changed
	}
	return next, changed
}

func (m *revision) byRule() bool {
	for _, match := range readError(m.text).matches {
		id := tried{match.rule, m.text}
		if m.used[id] == mostUses {
			continue
		}
		m.used[id]++
		if rules[match.rule].revise(m, match.groups) {
			return true
		}
	}
	return false
}

var (
	demands        = findsAll(`\b(?:must|should|has to|needs to) (?:be|have) `)
	betweenClauses = whenUsed(`, and |, | and |; `)
	elided         = whenUsed(`^\w+ (?:\d|\[|contiguous|(?:bool|long|float|double|bfloat16|u?int\d+|float\d+)\b)`)
)

// clauses divides an error before each argument with a condition of its own, as in "x must be 2-D, index 1-D int64".
func (m *revision) clauses() []string {
	asked := demands(m.text)
	if len(asked) == 0 {
		return []string{m.text}
	}
	var all []string
	asks, from := asked[0][0], 0
	for _, gap := range betweenClauses().FindAllStringIndex(m.text, -1) {
		name, _, _ := strings.Cut(m.text[gap[1]:], " ")
		own := elided().MatchString(m.text[gap[1]:]) || strings.HasPrefix(m.text[gap[1]+len(name):], " "+asks)
		if m.at(name) >= 0 && own && strings.Contains(m.text[from:gap[0]], asks) {
			all, from = append(all, m.text[from:gap[0]]), gap[1]
		}
	}
	all = append(all, m.text[from:])
	for i, clause := range all[1:] {
		if name, rest, _ := strings.Cut(clause, " "); elided().MatchString(clause) {
			all[1+i] = name + " " + asks + rest
		}
	}
	return all
}

// A reading is the list of changes that the rules derive from an error.
type reading struct {
	key     string // the error without its numbers
	lost    bool   // no arguments avoid it
	matches []match
}

type match struct {
	rule   int
	groups []string
}

var readError = cached(applicable)

func applicable(text string) *reading {
	e := &reading{key: report.WithoutNumbers(text), lost: beyondMending(text)}
	small := strings.ToLower(text)
	if strings.HasPrefix(small, "could not run") {
		small = small[:min(len(small), len("could not run"))]
	}
	for i, r := range rules {
		if !ContainsAny(small, r.words) {
			continue
		}
		within := small
		if i == 0 {
			within = text
		}
		if groups := r.pattern().FindStringSubmatch(within); groups != nil {
			e.matches = append(e.matches, match{i, groups})
		}
	}
	return e
}

// Known returns the number of earlier errors like this one.
func (a *adapter) Known(text string) int { return a.seen[readError(text).key] }

// An errorRule applies to errors, in lower case, with one of the words that match the pattern: patterns alone are slow.
type errorRule struct {
	words   []string
	pattern func() *regexp.Regexp
	revise  func(m *revision, groups []string) bool
}

func on(pattern string, revise func(*revision, []string) bool, words ...string) errorRule {
	return errorRule{words, whenUsed(pattern), revise}
}

func targets(change func(*sample.TensorSpec)) func(*revision, []string) bool {
	return func(m *revision, _ []string) bool { return m.each(m.targets(), change) }
}

func form(forms ...engine.Form) func(*revision, []string) bool {
	return func(m *revision, _ []string) bool {
		m.setForm(m.targets(), sample.Pick(m.rng, forms))
		return true
	}
}

// text returns a change of the first argument of a type that the error names to a text.
func text(of string, choose func(*revision, given) string) func(*revision, []string) bool {
	return func(m *revision, _ []string) bool {
		for _, i := range m.mentioned() {
			if arg := m.args[i]; Unwrap(arg.Type).Name == of && (of != "Any" || arg.value.Kind != sample.TextValue) {
				*arg.value = sample.Text(choose(m, arg))
				return true
			}
		}
		return false
	}
}

func anyLetter(m *revision, _ given) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	at := m.rng.IntN(len(letters))
	return letters[at : at+1]
}

// hopeless are errors that no other arguments avoid.
var hopeless = []string{
	"without ATen_cuda", "compiled with", "no longer supported", "is unsupported!", "not compiled", "outdated version",
	"not built with", "try compiling", "You are likely triggering this with", "not supported by ONEDNN",
	"not linked", "requires CUDA", "cuDNN",
}

// rules are tried in order, the first of them on the unchanged error.
var rules = []errorRule{
	{words: []string{"could not run"}, pattern: backends, revise: (*revision).backend},
	on(`the constructor of \S+ takes \(.*\): (?:got \d+ arguments|of argument \d+: want)`, (*revision).construct,
		"the constructor of"),
	on(`has no constructor; .* returns one`, (*revision).make, "has no constructor; "),
	on(`argument (\d+) "(\w+)": want ([^,]+), got (.*)`, (*revision).wanted, "\": want "),
	on(`given groups=(\d+), (?:weight of size|expected weight to be (?:at least|divisible by) \d+ at dimension 0, but `+
		`got weight of size) \[([\d, ]+)\](?:, expected input\[([\d, ]+)\])?`, (*revision).grouped, "given groups="),
	on(`expected bias to be 1-dimensional with (\d+) elements, but got bias of size \[([\d, ]*)\]`, (*revision).biased,
		"expected bias"),
	on(`type \(\w+\) and \w+ type \([\w ]+\) should be the same`, (*revision).equalDTypes, "should be the same"),
	on(`no such file|fopen|file open failed|(?:cannot|could not|failed to|can't) open`, (*revision).file, "file", "open"),
	on(``, (*revision).words, ""),
	on(`must be (?:one of |an? )?.*['"]\w+['"]`, (*revision).object, "must be"),
	on(`must be an? (?:str|string)\b`, text("Any", func(m *revision, arg given) string { return arg.Name }),
		"must be a str"),
	on(`(?:unexpected|unknown|invalid) (?:character|letter)`, text("str", anyLetter), "character", "letter"),
	on(`(\w+) must have (?:one|an?) \w+ (?:for each|per) (row|column|channel) (?:of|in) (\w+)`, (*revision).vectorOf,
		"for each ", " per "),
	on(`(\w+) must have an? \w+ for each column`, (*revision).eachColumn, "each column"),
	on(`must be (?:all )?zeros?\b`,
		targets(func(t *sample.TensorSpec) { t.Fill, t.Values = sample.Fill{Name: "const"}, nil }), "zero"),
	on(`expected (.+?) to be true, but got false`, (*revision).condition, "to be true"),
	on(`(?s)(?:check|assert) failed:? (.+)`, (*revision).condition, "check failed", "assert failed"),
	on(`(\w+)['"]?(?: value| argument)? (?:must|should|has to|needs to|to) be (?:strictly )?(positive|non-?negative|`+
		`(?:greater|larger|less|smaller) than(?: or equal to)?|at (?:least|most)|[<>]=?) ?(-?\d+)?`, (*revision).bounded,
		"positive", "negative", " than", "at least", "at most", " be >", " be <"),
	on(`(?:unhandled|unsupported|unknown|invalid|not supported)[\w ]* (?:dtype|scalar ?type|data type):? (\w+)`,
		(*revision).notImplemented, "dtype", "scalar", "data type"),
	on(`keyerror: torch\.(\w+)()`, (*revision).converted, "keyerror: torch."),
	on(`convert [a-z ]*torch\.(\w+) to \D*?\b(u?int\d+|float\d+)\b`, (*revision).converted, "convert "),
	on(`\bcontiguous`, targets(func(t *sample.TensorSpec) { t.Arrangement, t.Form = tensor.Contiguous, engine.Strided }),
		"contiguous"),
	on(`(\d+) (?:elements?|columns?|coordinates|channels|values) (?:in|at|along) (?:dim|dimension) (\d+)`,
		(*revision).elementsAt, " dim"),
	on(`same (?:number of elements|size|length|number) (?:in|at|along) (?:dim|dimension) (\d+)`,
		(*revision).sameAt, "same "),
	on(`(\w+)\W[^a-z]*to have (\d+) \w+?,? but (?:it )?(?:got|found|has|had) (\d+)`, (*revision).have, "to have "),
	on(`(\w+) to be a vector of size equal to the number of (channel)s in (\w+)`, (*revision).vectorOf,
		"number of channels in"),
	on(`\((-?\d+)\) must be (?:an? )?(?:integer |whole )?(?:multiple of|divisible by) \w+ \((-?\d+)\)`,
		(*revision).multiple, "multiple of", "divisible by"),
	on(`(?:size\((-\d)\)\W.*)?divisible by (\d+)`, (*revision).divisible, "divisible by "),
	on(`()divisible by (\w+)`, (*revision).divisible, "divisible by "),
	on(`(?:greater|larger|bigger) than (?:the )?(?:actual |padded )*input|input (?:\w+ )*(?:is )?too small|smaller than `+
		`(?:the )?kernel`, (*revision).larger, "than ", "too small"),
	on(`\bdtype \S+ (?:is )?not (?:in|one of) [\[({]([^\])}]*)`, (*revision).oneDType, "dtype "),
	on(`\bfails: (?:exactly |at least )?(\d+)-?d\b`, (*revision).rank, "fails: "),
	on(`()(?:shape|size)[a-z ]*:? (?:tensor)? ?[\[(]([a-z_\d]+(?:, ?[a-z_\d]+)+),?[\])]`, (*revision).described,
		"shape", "size"),
	on(`\b(?:be|have)\b ([\w -]*?)[\[(]([a-z_]\w*(?:, ?\w+)*),?[\])]`, (*revision).described, "[", "("),
	on(`\b(?:be|have)\b ([\w -]*?)\b(\w+(?: x \w+)+)\b`, (*revision).described, " x "),
	on(`(?:last dimension|innermost dimension|columns|inner shape)[a-z ]*? (?:be|==|of size|equal to|is) \(?(\d+)`,
		(*revision).elementsAt, "last dim", "innermost", "columns", "inner shape"),
	on(`zerotensors are immutable|functional tensor|functionaliz|unsupported memory format`, (*revision).plainForms,
		"zerotensors", "functional tensor", "functionaliz", "memory format"),
	on(`must be non-?negative`, (*revision).atLeastOne, "negative"),
	on(`expected (\w+) equals to (\d+), but got size`, (*revision).listLength, "equals to"),
	on(`(\w+?) ?(?:sizes?|lengths?)?(?: length)? (?:is expected to|should|must) be (\d+)`, (*revision).listLength,
		"should be ", "must be ", "expected to be "),
	on(`\blists?\b.*\bsame |same number of (?:tensors|elements)`, (*revision).equalLists, "list", "same number of "),
	on(`same (?:d|data )?type|dtypes? .*match|not match.* dtype`, (*revision).equalDTypes, "same ", "match"),
	on(`expected (?:scalar type|dtype|a tensor of type|type|self dtype to be|out tensor to have dtype|index to be|`+
		`tensor to have dtype) '?(?:torch\.)?(\w+(?: int)?)'? but (?:found|got|instead got)(?: (\w+))?`,
		(*revision).dtypeWord, "but found", "but got", "but instead got"),
	on(`(?:to have one of the following scalar types|scalar types?|expected dtype|dtype to be|data type):? `+
		`(?:torch\.)?(\w+)`, (*revision).dtypeWord, "scalar type", "dtype", "data type"),
	on(`not implemented for '(\w+)'`, (*revision).notImplemented, "not implemented for"),
	on(`(?:must|should|expected?|to|only|be|requires?)[\w ,']*?(?: be| have| of)? (?:an? )?(?:dtype |type |of type `+
		`)?(long|int64|int32|int|bool|boolean|float|double|half|byte|uint8|complex|floating[- ]point|integral|integer)s?\b`,
		(*revision).dtypeWord,
		"long", "int", "bool", "float", "double", "half", "byte", "complex", "integ"),
	on(`\b(uint(?:8|16|32|64)|int(?:8|16|32|64)|float(?:16|32|64)|bfloat16|qu?int(?:8|32))\b`, (*revision).dtypeWord,
		"int", "float"),
	on(`expected (\d+) dim\w* but (?:the )?(?:tensor|it|input) has (\d+)`, (*revision).fewer, " has "),
	on(`(\d+)(?:-?d| ?-?dim\w*|[- ]dimensional)\b(?:[\w ,]*?\bor (\d+)(?:-?d| ?-?dim\w*|[- ]dimensional))?`,
		(*revision).rank, "d"),
	on(`dimension specified as (-?\d+) but tensor has no dimensions`, (*revision).dimensioned, "has no dimensions"),
	on(`dimension:? (\d)`, (*revision).rank, "dimension"),
	on(`tensor with (\d+) elements cannot be converted to scalar`, (*revision).oneElement, "converted to scalar"),
	on(`\b(?:vector|scalar|0-dim|single element|one element)`, (*revision).vector, "vector", "scalar", "0-dim", "element"),
	on(`square matri`, (*revision).square, "square matri"),
	on(`dimension out of range(?:.*\[-?\d+, (-?\d+)\])?.*but got (-?\d+)`, (*revision).dimRange, "dimension out of range"),
	on(`size of tensor a .* must match`, (*revision).equalSizes, "size of tensor a"),
	on(`same (?:shape|size|number of)|shapes? mismatch|sizes? mismatch|inconsistent|must match|to match|not match|have `+
		`(?:the )?(?:dtype and )?(?:shape|sizes?) (?:and dtype )?of`,
		(*revision).equalSizes, "same ", "mismatch", "inconsistent", "match", " of"),
	on(`\[([\d, ]*)\].*\[([\d, ]*)\]`, (*revision).twoShapes, "["),
	on(`undefined|none|not defined|required`, (*revision).define, "undefined", "none", "not defined", "required"),
	on(`sparse`, (*revision).sparse, "sparse"),
	on(`\bquantized\b|qtensor|qscheme`, form(engine.Quantized, engine.PerChannel, engine.Quantized, engine.Strided),
		"quantized", "qtensor", "qscheme"),
	on(`mkldnn`, form(engine.Mkldnn, engine.Strided), "mkldnn"),
	on(`\bnested`, form(engine.Nested, engine.NestedEven, engine.Strided), "nested"),
	on(`(\w+): (?:0|-\d+)\b`, (*revision).shownBelowOne, ": 0", ": -"),
}

// words sets a text to one of the values that the error offers.
func (m *revision) words([]string) bool {
	var at []int
	for i, arg := range m.args {
		if Unwrap(arg.Type).Name == "str" {
			at = append(at, i)
		}
	}
	about := func(i int) bool {
		v := m.args[i].value
		return containsWord(m.text, m.args[i].Name) || v.Kind == sample.TextValue && v.Text != "" &&
			strings.Contains(m.text, v.Text)
	}
	if len(at) == 0 || len(choices(m.text)) == 0 && !slices.ContainsFunc(at, about) {
		return false
	}
	offered := slices.DeleteFunc(slices.Clone(namedWords(m.text)),
		func(w string) bool { return slices.ContainsFunc(m.args, func(g given) bool { return g.Name == w }) })
	if len(offered) == 0 {
		return false
	}
	i := sample.Pick(m.rng, at)
	if mentioned := slices.DeleteFunc(m.mentioned(),
		func(i int) bool { return !slices.Contains(at, i) }); len(mentioned) > 0 {
		i = mentioned[0]
	}
	v := m.args[i].value
	old := *v
	*v = sample.Text(sample.Pick(m.rng, offered))
	return old.String() != v.String()
}

var quotedClass = regexp.MustCompile("['\"`]([A-Z]\\w+)['\"`]")

// object sets an argument of any type to an object of a class in the error: its constructor's names the arguments.
func (m *revision) object([]string) bool {
	offered := quotedClass.FindAllStringSubmatch(m.text, 8)
	i := slices.IndexFunc(m.args, func(g given) bool { return Unwrap(g.Type).Name == "Any" })
	if i < 0 || len(offered) == 0 || m.args[i].value.Kind == sample.NewValue {
		return false
	}
	*m.args[i].value = sample.Value{Kind: sample.NewValue, Text: sample.CustomClasses + m.op.Namespace + "." +
		sample.Pick(m.rng, offered)[1]}
	return true
}

// file sets a string to the name of an existing file.
func (m *revision) file([]string) bool {
	const empty = "/dev/null"
	i := slices.IndexFunc(m.args, func(g given) bool { return g.value.Kind == sample.TextValue && g.value.Text != empty })
	if i < 0 {
		return false
	}
	*m.args[i].value = sample.Text(empty)
	return true
}

var shownNumber = regexp.MustCompile(`(\w+): (0|-\d+)\b`)

// shownBelowOne increases the numbers and sizes that the error shows to be less than one, as in "pad_h: -1".
func (m *revision) shownBelowOne([]string) bool {
	changed := false
	for _, shown := range shownNumber.FindAllStringSubmatch(strings.ToLower(m.text), -1) {
		i := m.argument(shown[1])
		if i < 0 {
			continue
		}
		v := m.args[i].value
		if n, _ := strconv.ParseInt(shown[2], 10, 64); v.Kind == sample.IntValue && v.Int == n {
			v.Int, changed = 1, true
		}
		grown := m.each(v.AppendTensors(nil), func(t *sample.TensorSpec) {
			for k := range t.Sizes {
				t.Sizes[k] = max(1, t.Sizes[k])
			}
		})
		changed = grown || changed
	}
	return changed
}

// eachColumn uses matrices with a column for each element of the argument that the error names.
func (m *revision) eachColumn(groups []string) bool {
	i := m.argument(groups[1])
	return i >= 0 && m.each(m.c.Tensors(), func(t *sample.TensorSpec) {
		if len(t.Sizes) == 2 {
			t.Sizes[1] = int64(max(1, len(m.args[i].value.List)))
		}
	})
}

// plainForms makes all tensors functional if some were, or else ordinary ones.
func (m *revision) plainForms([]string) bool {
	f, ts := engine.Strided, m.c.Tensors()
	plain := func(t *sample.TensorSpec) bool { return t.Form != engine.Functional }
	if strings.Contains(m.text, "unctional tensor") && slices.ContainsFunc(ts, plain) {
		f = engine.Functional
	}
	m.setForm(ts, f)
	return true
}

func (m *revision) listLength(groups []string) bool {
	i := slices.IndexFunc(m.args, func(g given) bool { return g.Name == groups[1] })
	n := int(shown(groups[2]))
	if i < 0 || n > 8 || Unwrap(m.args[i].Type).Kind != schema.List {
		return false
	}
	v := m.args[i].value
	if v.Kind != sample.ListValue || len(v.List) == 0 {
		*v = same(n, 1)
		return true
	}
	changed := len(v.List) != n
	v.List = ofLength(n)(v.List)
	return changed
}

var backendForms = map[string]engine.Form{
	"sparsecpu": engine.COO, "sparsecsrcpu": engine.CSR, "mkldnncpu": engine.Mkldnn, "quantizedcpu": engine.Quantized,
	"nestedtensorcpu": engine.Nested, "cpu": engine.Strided,
}

var backends = whenUsed(`(?i)arguments from the '(\w+)' backend[^\[]*available for these backends: \[([^\]]*)\]`)

// able returns the forms for which an op has kernels, without the one that was used.
func able(used, backends string) []engine.Form {
	var forms []engine.Form
	for name := range strings.SplitSeq(strings.ToLower(backends), ", ") {
		if f, ok := backendForms[name]; ok && name != strings.ToLower(used) {
			forms = append(forms, f)
		}
	}
	return forms
}

// Lost reports whether no other arguments would avoid an error.
func Lost(text string) bool { return readError(text).lost }

func beyondMending(text string) bool {
	if !strings.Contains(text, "Could not run") {
		return ContainsAny(text, hopeless)
	}
	m := backends().FindStringSubmatch(text)
	return m != nil && len(able(m[1], m[2])) == 0
}

func (m *revision) backend(groups []string) bool {
	able := able(groups[1], groups[2])
	if len(able) == 0 {
		return false
	}
	m.setForm(m.c.Tensors(), sample.Pick(m.rng, able))
	return true
}

var constructor = regexp.MustCompile(`.*the constructor of (\S+) takes \((.*)\): (?:got \d+ arguments|of argument ` +
	`\d+: want)`)

// construct sets the arguments of objects as the engine's error describes their constructor.
func (m *revision) construct([]string) bool {
	said := constructor.FindStringSubmatch(m.text)
	takes, err := schema.ParseDispatcher("class::new(" + strings.ReplaceAll(said[2], "=...", "") + ") -> ()")
	if err != nil {
		return false
	}
	m.makers[said[1]] = takes.Func.Args
	var fill func(values []sample.Value) bool
	fill = func(values []sample.Value) (changed bool) {
		for i := range values {
			v := &values[i]
			changed = fill(v.List) || changed
			if v.Kind != sample.NewValue || v.Text != said[1] {
				continue
			}
			v.List = nil
			for _, arg := range takes.Func.Args {
				v.List = append(v.List, candidate(m.rng, arg, &m.th))
			}
			changed = true
		}
		return changed
	}
	return fill(m.c.Args)
}

// made matches the error of an engine for an object that an op makes, with its schema.
var made = regexp.MustCompile(`class (\S+) has no constructor; (\S+?)::(.*) returns one`)

// make makes objects without a constructor by calling an op.
func (m *revision) make([]string) bool {
	said := made.FindStringSubmatch(m.text)
	maker, err := schema.ParseDispatcher(said[2] + "::" + said[3])
	if err != nil {
		return false
	}
	maker.Namespace = said[2]
	changed := false
	for i, v := range m.c.Args {
		if v.Kind == sample.NewValue && v.Text == said[1] {
			m.c.Args[i], changed = madeBy(m.rng, maker, &m.th), true
			m.makers[m.c.Args[i].Text] = maker.Func.Args
		}
	}
	return changed
}

// wanted follows an error of the engine about a value that the schema's type does not accept.
func (m *revision) wanted(groups []string) bool {
	i := slices.Index(m.c.Names, groups[2])
	if i < 0 {
		return false
	}
	m.c.Args[i] = candidate(m.rng, m.op.Func.Args[i], &m.th)
	return true
}

func (m *revision) dtypeWord(groups []string) bool {
	word, ok := tensor.DTypeOfWord(groups[1])
	if !ok {
		return false
	}
	dtype, changed := word.String(), false
	for _, arg := range m.args {
		if Unwrap(arg.Type).Name == "ScalarType" && containsWord(m.text, arg.Name) && sample.OneIn(m.rng, 2) {
			v := sample.Value{Kind: sample.DTypeValue, Text: dtype}
			changed = arg.value.String() != v.String()
			*arg.value = v
		}
	}
	ts := m.targets()
	if len(groups) > 2 && len(m.mentioned()) == 0 {
		ts = m.found(groups[2], ts)
	}
	return changed || m.each(ts, func(t *sample.TensorSpec) { t.DType = dtype })
}

// found returns one of the tensors that have the dtype which an error has found, or all of them; others if none has.
func (m *revision) found(word string, others []*sample.TensorSpec) []*sample.TensorSpec {
	dtype, ok := tensor.DTypeOfWord(word)
	have := slices.DeleteFunc(m.c.Tensors(), func(t *sample.TensorSpec) bool { return t.DType != dtype.String() })
	switch {
	case !ok || len(have) == 0:
		return others
	case sample.OneIn(m.rng, 3):
		return have
	}
	return []*sample.TensorSpec{sample.Pick(m.rng, have)}
}

func (m *revision) oneDType(groups []string) bool {
	var listed []string
	for word := range strings.SplitSeq(strings.ReplaceAll(groups[1], "torch.", ""), ", ") {
		if d, ok := tensor.DTypeOfWord(word); ok {
			listed = append(listed, d.String())
		}
	}
	if len(listed) == 0 {
		return false
	}
	dtype := sample.Pick(m.rng, listed)
	m.each(m.targets(), func(t *sample.TensorSpec) { t.DType = dtype })
	return true
}

func (m *revision) notImplemented(groups []string) bool {
	bad, ok := tensor.DTypeOfWord(groups[1])
	if n, err := strconv.ParseInt(groups[1], 10, 8); err == nil { // a c10::ScalarType
		bad, ok = tensor.DType(n), true
	}
	if !ok {
		return false
	}
	var dtype string
	if class := bad.Class(); class == tensor.Floating || class == tensor.Scaled {
		dtype = sample.Pick(m.rng, []string{"int64", "bool", "int32", "complex64", "float32", "uint8", "int8"})
	} else {
		dtype = sample.Pick(m.rng, []string{"float32", "float32", "float64", "int64"})
	}
	for _, arg := range m.args {
		if v := arg.value; v.Kind == sample.DTypeValue && v.Text == bad.String() {
			v.Text = dtype
		}
	}
	m.each(m.c.Tensors(), func(t *sample.TensorSpec) {
		if t.DType == bad.String() {
			t.DType = dtype
		}
	})
	return true
}

// rank changes tensors to the number of dimensions in the error.
func (m *revision) rank(groups []string) bool {
	n, _ := strconv.Atoi(sample.Pick(m.rng, groups[1:2]))
	if len(groups) > 2 && groups[2] != "" && sample.OneIn(m.rng, 2) {
		n, _ = strconv.Atoi(groups[2])
	}
	return n <= 6 && m.each(m.targets(), ranked(n))
}

func ranked(n int) func(*sample.TensorSpec) {
	return func(t *sample.TensorSpec) { t.Sizes = sized(n, t.Sizes) }
}

func (m *revision) vector(groups []string) bool {
	n := 1
	if strings.Contains(m.text, "scalar") || strings.Contains(m.text, "0-dim") || strings.Contains(m.text, "single") {
		n = 0
	}
	ts := m.targets()
	if len(ts) == len(m.c.Tensors()) && len(ts) > 1 {
		ts = []*sample.TensorSpec{sample.Pick(m.rng, ts)}
	}
	m.each(ts, ranked(n))
	return true
}

// oneElement reduces tensors outside of lists with the number of elements in the error to one element.
func (m *revision) oneElement(groups []string) bool {
	var many []*sample.TensorSpec
	for _, arg := range m.args {
		if t := arg.value.Tensor; t != nil && strconv.FormatInt(tensor.Numel(t.Sizes), 10) == groups[1] {
			many = append(many, t)
		}
	}
	if len(many) == 0 {
		return false
	}
	m.each([]*sample.TensorSpec{sample.Pick(m.rng, many)}, func(t *sample.TensorSpec) { t.Sizes = []int64{1} })
	return true
}

func (m *revision) square(groups []string) bool {
	m.each(m.targets(), func(t *sample.TensorSpec) {
		if n := len(t.Sizes); n < 2 {
			t.Sizes = []int64{3, 3}
		} else {
			t.Sizes[n-2] = t.Sizes[n-1]
		}
	})
	return true
}

// dimRange sets every number out of range to one that never is, or else adds dimensions where a tensor has so few.
func (m *revision) dimRange(groups []string) bool {
	last, err := strconv.Atoi(groups[1])
	bad, _ := strconv.ParseInt(groups[2], 10, 64)
	changed := false
	for _, arg := range m.args {
		v := arg.value
		if v.Kind == sample.DefaultValue {
			if d, err := strconv.ParseInt(arg.Default, 10, 64); err == nil && d == bad && strings.HasPrefix(arg.Name, "dim") {
				*v, changed = sample.Int(0), true
			}
		}
		changed = v.ReplaceInt(bad, 0) || changed
	}
	if changed && !sample.OneIn(m.rng, 3) {
		return true
	}
	few := slices.DeleteFunc(m.targets(), func(t *sample.TensorSpec) bool { return err == nil && len(t.Sizes) != last+1 })
	if changed {
		bad = 0
	}
	m.each(m.oneOrMost(few, integral), func(t *sample.TensorSpec) {
		if n := max(len(t.Sizes), int(min(bad, 6))) + 1; n < 6 {
			t.Sizes = sized(n, t.Sizes)
		}
	})
	return true
}

// fewer changes tensors with the shown number of dimensions to the required number.
func (m *revision) fewer(groups []string) bool {
	n, has := shown(groups[1]), shown(groups[2])
	if n > 6 {
		return false
	}
	all := slices.DeleteFunc(m.targets(), func(t *sample.TensorSpec) bool { return int64(len(t.Sizes)) != has })
	m.each(m.oneOrMost(all, func(t *sample.TensorSpec) bool { return !integral(t) }), ranked(int(n)))
	return len(all) > 0 && n != has
}

// oneOrMost returns one of the tensors that an error may be about, or all, without unlikely ones if others remain.
func (m *revision) oneOrMost(ts []*sample.TensorSpec, hardly func(*sample.TensorSpec) bool) []*sample.TensorSpec {
	if len(ts) > 1 && sample.OneIn(m.rng, 2) {
		return []*sample.TensorSpec{sample.Pick(m.rng, ts)}
	}
	if most := slices.DeleteFunc(slices.Clone(ts), hardly); len(most) > 0 {
		return most
	}
	return ts
}

func integral(t *sample.TensorSpec) bool { return sample.Element(t.DType).Class() == tensor.Integral }

// atLeastOne sets negative numbers that the error does not name to one.
func (m *revision) atLeastOne([]string) bool {
	changed := false
	for _, arg := range m.args {
		if v := arg.value; v.Kind == sample.IntValue && v.Int < 0 {
			v.Int, changed = 1, true
		}
	}
	return changed
}

// multiple makes a size or a number in the error a multiple of another one.
func (m *revision) multiple(groups []string) bool {
	n, by := shown(groups[1]), shown(groups[2])
	if by > 64 || n > 1<<12 {
		return false
	}
	to := int64(1)
	if by > 0 {
		to = (max(n, 0)/by + 1) * by
	} else {
		n = by
	}
	changed := replaceSize(m.c, Separate(m.c.Tensors(), m.c.Tensors()), n, to, false)
	for i := range m.c.Args {
		changed = m.c.Args[i].ReplaceInt(n, to) || changed
	}
	return changed
}

// equalLists makes lists of tensors as long as the list that the case varies, or the first.
func (m *revision) equalLists([]string) bool {
	var lists []*sample.Value
	model := 0
	for _, arg := range m.args {
		if v := arg.value; v.Kind == sample.ListValue && len(v.AppendTensors(nil)) > 0 {
			if slices.Contains(m.About, arg.Name) {
				model = len(lists)
			}
			lists = append(lists, v)
		}
	}
	Separate(m.c.Tensors(), m.c.Tensors())
	changed := false
	for _, v := range lists {
		n := len(lists[model].List)
		changed = changed || len(v.List) != n
		v.List = ofLength(n)(v.List)
	}
	return changed
}

// equalSizes sets the sizes of the tensors that the error names, or of all, to those of one of them.
func (m *revision) equalSizes([]string) bool {
	ts := m.targets()
	if len(ts) < 2 {
		ts = m.c.Tensors()
	}
	if len(ts) == 0 {
		return false
	}
	Separate(ts, m.c.Tensors())
	model := ts[0]
	if sample.OneIn(m.rng, 3) {
		model = sample.Pick(m.rng, ts)
	}
	return m.each(ts, func(t *sample.TensorSpec) { t.Sizes = slices.Clone(model.Sizes) })
}

// twoShapes replaces one of two shapes in the error by the other one.
func (m *revision) twoShapes(groups []string) bool {
	one, other := parseSizes(groups[1]), parseSizes(groups[2])
	ts := Separate(m.c.Tensors(), m.c.Tensors())
	m.rng.Shuffle(len(ts), func(i, j int) { ts[i], ts[j] = ts[j], ts[i] })
	for _, t := range ts {
		switch {
		case slices.Equal(t.Sizes, other):
			t.Sizes = one
		case slices.Equal(t.Sizes, one):
			t.Sizes = other
		default:
			continue
		}
		t.Legal()
		return !slices.Equal(one, other)
	}
	return false
}

func (m *revision) equalDTypes([]string) bool {
	ts := m.c.Tensors()
	if len(ts) == 0 {
		return false
	}
	Separate(ts, ts)
	if targets := m.targets(); len(m.mentioned()) > 1 && len(targets) > 1 {
		ts = targets
	}
	old := m.c.String()
	for _, t := range ts {
		t.DType = ts[0].DType
		if quantized(t.Form) != quantized(ts[0].Form) {
			t.SetForm(ts[0].Form)
		}
		t.Legal()
	}
	return m.c.String() != old
}

func quantized(f engine.Form) bool { return f == engine.Quantized || f == engine.PerChannel }

// define sets omitted arguments.
func (m *revision) define([]string) bool {
	var absent []int
	for i, arg := range m.args {
		if v := arg.value; v.Kind == sample.NoneValue || v.Kind == sample.DefaultValue &&
			strings.Contains(arg.Default, "None") {
			absent = append(absent, i)
		}
	}
	if len(absent) == 0 {
		return false
	}
	mentioned := slices.DeleteFunc(m.mentioned(), func(i int) bool { return !slices.Contains(absent, i) })
	if len(mentioned) > 0 {
		absent = mentioned
	}
	for _, i := range absent {
		arg := m.args[i]
		if arg.Type.Kind == schema.Optional {
			arg.Type = arg.Type.Elem[0]
		}
		*arg.value = candidate(m.rng, arg.Argument, &m.th)
	}
	return true
}

func (m *revision) sparse(groups []string) bool {
	f := sample.Pick(m.rng, []engine.Form{engine.COO, engine.COOUncoalesced, engine.CSR, engine.Strided})
	for _, form := range []engine.Form{engine.CSR, engine.CSC, engine.BSR, engine.BSC, engine.COO} {
		if strings.Contains(strings.ToLower(m.text), tensor.Forms[form]) && sample.OneIn(m.rng, 2) {
			f = form
		}
	}
	ts := m.targets()
	if all := append(ts, m.c.Tensors()...); len(all) == 0 {
		return false
	} else if sample.OneIn(m.rng, 2) {
		ts = []*sample.TensorSpec{sample.Pick(m.rng, all)}
	}
	m.setForm(ts, f)
	return true
}

// mutate changes one or two arguments, preferably those that the error names, to values in the error or to any others.
func (a *adapter) mutate(c *sample.Case, text string) {
	for range 1 + a.rng.IntN(2) {
		m := a.revision(c, text)
		if len(m.args) == 0 || m.encoded() {
			return
		}
		mentioned := m.mentioned()
		i := a.rng.IntN(len(m.args))
		if len(mentioned) > 0 && !sample.OneIn(a.rng, 3) {
			i = sample.Pick(a.rng, mentioned)
		}
		m.mutateArg(m.args[i])
	}
}

// encoded sometimes makes the first tensor with the inverse op.
func (m *revision) encoded() bool {
	i := slices.IndexFunc(m.args, func(g given) bool { return g.value.Kind == sample.TensorValue })
	if m.undone == nil || i != 0 || !sample.OneIn(m.rng, 4) {
		return false
	}
	v := m.args[0].value
	*v = madeBy(m.rng, m.undone, &m.th)
	m.makers[v.Text] = m.undone.Func.Args
	return true
}

func (m *revision) mutateArg(arg given) {
	v := arg.value
	if Unwrap(arg.Type).Name == "Any" && sample.OneIn(m.rng, 2) {
		*v = candidate(m.rng, arg.Argument, &m.th)
		return
	}
	switch v.Kind {
	case sample.TensorValue:
		m.mutateTensor(Separate([]*sample.TensorSpec{v.Tensor}, m.c.Tensors())[0])
	case sample.IntValue:
		v.Int = m.number()
	case sample.ListValue:
		m.mutateList(v, arg.Argument)
	case sample.TupleValue, sample.DictValue, sample.CallValue, sample.AfterValue, sample.NewValue, sample.SameValue:
		if ts := v.AppendTensors(nil); len(ts) > 0 {
			m.mutateTensor(Separate(ts, m.c.Tensors())[m.rng.IntN(len(ts))])
		}
	default:
		if near := beside(m.stored, m.text); v.Kind == sample.TextValue && len(near) > 0 {
			*v = sample.Text(sample.Pick(m.rng, near))
			return
		}
		th := m.th
		th.vary = true
		if arg.Type.Kind == schema.Optional && v.Kind == sample.NoneValue {
			arg.Type = arg.Type.Elem[0]
		}
		*v = candidate(m.rng, arg.Argument, &th)
	}
}

// beside returns the words near an error's message in a library's texts: compilers put those of one function together.
func beside(stored []string, text string) []string {
	i := slices.IndexFunc(stored, func(s string) bool { return !plain.MatchString(s) && strings.Contains(text, s) })
	if i < 0 {
		return nil
	}
	near := slices.Clone(stored[max(0, i-8):min(len(stored), i+9)])
	return slices.DeleteFunc(near, func(s string) bool { return !plain.MatchString(s) })
}

func (m *revision) mutateList(v *sample.Value, arg schema.Argument) {
	ints := len(v.List) > 0 && v.List[0].Kind == sample.IntValue
	switch tensors := v.AppendTensors(nil); {
	case len(tensors) > 0 && !sample.OneIn(m.rng, 4):
		m.mutateTensor(Separate([]*sample.TensorSpec{sample.Pick(m.rng, tensors)}, m.c.Tensors())[0])
	case len(v.List) > 0 && fixedSize(arg.Type) < 2 && sample.OneIn(m.rng, 3):
		v.List = v.List[:len(v.List)-1]
	case len(v.List) > 0 && len(v.List) < 7 && fixedSize(arg.Type) < 2 && sample.OneIn(m.rng, 3):
		v.List = append(v.List, v.List[0].Clone())
	case ints && sample.OneIn(m.rng, 2):
		*v = same(len(v.List), m.number())
	case ints:
		v.List[m.rng.IntN(len(v.List))].Int = m.number()
	default:
		*v = candidate(m.rng, arg, &m.th)
	}
}

// fixedSize returns the length that a list must have, 0 for any.
func fixedSize(t schema.Type) int {
	if t.Kind == schema.Optional {
		t = t.Elem[0]
	}
	return t.Size
}

func (m *revision) mutateTensor(t *sample.TensorSpec) {
	switch m.rng.IntN(8) {
	case 0, 1:
		t.Sizes = slices.Clone(sample.Pick(m.rng, shapes))
	case 2:
		t.Sizes = slices.Clone(sample.Pick(m.rng, m.c.Tensors()).Sizes)
	case 3, 4:
		if len(t.Sizes) > 0 {
			t.Sizes[m.rng.IntN(len(t.Sizes))] = max(0, m.number())
		} else {
			t.Sizes = []int64{max(0, m.number())}
		}
	case 5, 6:
		t.DType = sample.Pick(m.rng, commonDTypes)
	case 7:
		t.Form = sample.Pick(m.rng, commonForms)
	}
	if tensor.Numel(t.Sizes) > 1<<14 {
		t.Sizes = []int64{3}
	}
	t.Legal()
}
