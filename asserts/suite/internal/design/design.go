package design

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A Design is the list of cases of one op: opening calls made from the schema alone, of which those that run are the
// bases; then each value class of each argument, once, on the first base that accepts it; then the variations of each
// recipe, and pairs of classes. It does not depend on the seed. Random pairs, which do, come last.
type Design struct {
	openings int
	Bases    []*sample.Case
	recipes  []*sample.Case // the calls of recipes, some of which are bases
	Classes  []argClass     // those that find most first
	usual    int            // number of these
	Rows     []ClassRow     // the rows after the classes, once each was tried
}

// A ClassRow is the classes of one case.
type ClassRow struct {
	Classes []int
	on      *sample.Case // the only call to combine them with; nil for each suitable base
}

// An argClass is a value class of an argument, or of all tensors together.
type argClass struct {
	arg string // "": all tensors
	valueClass
	key    bool // worth trying in pairs
	scalar bool // of an argument without tensors
	above  bool // an integer above 1, where the base has 0 or 1
}

const (
	mostRows  = 56 // of pairs
	Randomly  = 4  // number of cases that depend on the seed
	mostBases = 6

	mostFamilies = 2 // number of bases added for their forms
)

// Label names a class in reports: "self: const:NaN".
func (a argClass) Label() (arg, class string) {
	if a.arg == "" {
		return "tensors", a.name
	}
	return a.arg, a.name
}

// Costly reports whether a class has many elements, or a large number.
func (a argClass) Costly() bool {
	n, err := strconv.ParseFloat(a.name, 64)
	return strings.HasPrefix(a.name, "more than") || a.name == "int32 special" || err == nil && n > 10
}

// Apart returns the number of cases before those with several classes.
func (d *Design) Apart() int { return d.openings + len(d.Classes) }

// Usual returns the number of cases that find nearly all of what all cases find.
func (d *Design) Usual() int { return d.openings + d.usual }

// Cases returns the number of cases of the design, once each class was tried.
func (d *Design) Cases() int { return d.Apart() + len(d.Rows) + Randomly }

// Row returns the classes of a case. Origins are those of accepted classes, by the number of their cases.
func (d *Design) Row(number int, origins map[int]report.Origin, rng *rand.Rand) ClassRow {
	switch n := number - d.openings; {
	case n < len(d.Classes):
		return ClassRow{Classes: []int{n}}
	case n < len(d.Classes)+len(d.Rows):
		return d.Rows[n-len(d.Classes)]
	}
	var taken, random []int
	for i := range d.Classes {
		if _, ok := origins[d.openings+i]; ok {
			taken = append(taken, i)
		}
	}
	for range min(3, len(taken)) {
		random = append(random, sample.Pick(rng, taken))
	}
	return ClassRow{Classes: random}
}

type callSetting struct {
	Base *sample.Case
	Ways []int // of each class
}

// Settings returns the settings worth trying: for a single class every base, those with elements
// first, and its later ways on the first two; for several classes the bases on which they worked.
func (d *Design) Settings(r ClassRow, origins map[int]report.Origin) []callSetting {
	var all []callSetting
	if len(r.Classes) == 1 {
		bases := []*sample.Case{r.on}
		if r.on == nil {
			bases = slices.SortedStableFunc(slices.Values(d.Bases), func(x, y *sample.Case) int { return vacant(x) - vacant(y) })
		}
		for way := range d.Classes[r.Classes[0]].ways {
			for i, base := range bases {
				if way == 0 || i < 2 {
					all = append(all, callSetting{base, []int{way}})
				}
			}
		}
		return all
	}
	var ways, bases []int
	for _, i := range r.Classes {
		p := origins[d.openings+i]
		ways = append(ways, p.Way)
		if !slices.Contains(bases, p.Base) {
			bases = append(bases, p.Base)
		}
	}
	return slicesx.Map(bases, func(i int) callSetting { return callSetting{d.Bases[i], ways} })
}

// vacant returns 1 if the first tensor of a call has no elements: it makes kernels accept anything, and do little.
func vacant(c *sample.Case) int {
	if ts := c.Tensors(); len(ts) > 0 && slices.Contains(ts[0].Sizes, 0) {
		return 1
	}
	return 0
}

// About returns the arguments of a row's classes.
func (d *Design) About(r ClassRow) []string {
	return slicesx.Map(r.Classes, func(i int) string { return d.Classes[i].arg })
}

// Apply changes a call to have the classes of a row, and reports whether it has them all.
func (d *Design) Apply(c *sample.Case, row, ways []int) bool {
	for i, class := range row {
		if !d.Classes[class].ways[ways[i]](c) {
			return false
		}
	}
	return true
}

// Has reports whether a call has a class without a change.
func (d *Design) Has(c *sample.Case, class int) bool {
	return slices.ContainsFunc(d.Classes[class].ways, func(way func(*sample.Case) bool) bool {
		same := c.Clone()
		return way(same) && same.Key() == c.Key()
	})
}

// Follow plans the cases after the classes: the variations of recipes, and pairs of classes.
func (d *Design) Follow(origins map[int]report.Origin) {
	taken := func(i int) bool { _, ok := origins[d.openings+i]; return ok }
	above := make(map[string]bool)
	for i := range d.Classes {
		if c := &d.Classes[i]; c.above && taken(i) && !above[c.arg] {
			c.key, above[c.arg] = true, true // as sizes of one, or none, skip much of a kernel
		}
	}
	d.Rows = append(d.variations(origins), coveringRows(d.Classes, taken, mostRows)...)
}

// variations returns the recipes' calls with fewer dimensions, with no element, with each optional argument omitted and
// given, and with each flag both ways, except those that they have already or on which a class was tried.
func (d *Design) variations(origins map[int]report.Origin) []ClassRow {
	all := []ClassRow{}
	for _, c := range d.recipes {
		for i, class := range d.Classes {
			p, taken := origins[d.openings+i]
			if class.varies() && !(taken && d.Bases[p.Base].Number == c.Number) && !d.Has(c, i) {
				all = append(all, ClassRow{[]int{i}, c})
			}
		}
	}
	return all
}

// varies reports whether every recipe is tried with a class.
func (a argClass) varies() bool {
	switch a.name {
	case "unbatched", "first dimension 0":
		return a.arg == ""
	case "None", "given", "true", "false":
		return a.arg != ""
	}
	return false
}

// ChooseBases orders the calls that ran in the openings: an ordinary one of each rank, then one of
// each family of forms, then others, ordinary ones first; without duplicates.
func ChooseBases(ran []*sample.Case) []*sample.Case {
	var ranks, forms, ordinary, others []*sample.Case
	taken, shapes := make(map[int]bool), make(map[string]bool)
	for _, c := range ran {
		if shapes[c.Shape()] {
			continue
		}
		shapes[c.Shape()] = true
		switch r, f := c.Rank(), -1-familyOf(c); {
		case c.Ordinary() && !taken[r]:
			taken[r] = true
			ranks = append(ranks, c)
		case c.Ordinary():
			ordinary = append(ordinary, c)
		case f < -1 && !taken[f] && len(forms) < mostFamilies:
			taken[f] = true
			forms = append(forms, c)
		default:
			others = append(others, c)
		}
	}
	first := min(len(ranks), mostBases-mostFamilies)
	all := slices.Concat(ranks[:first], forms, ranks[first:], ordinary, others)
	return all[:min(len(all), mostBases)]
}

// familyOf returns the number of the family of forms of a call's tensor, counting from 1, or 0.
func familyOf(c *sample.Case) int {
	return 1 + slices.IndexFunc(families, func(family []engine.Form) bool {
		return slices.ContainsFunc(c.Tensors(), func(t *sample.TensorSpec) bool { return slices.Contains(family, t.Form) })
	})
}

// NewDesign plans the cases after the openings, for an engine with these devices.
func NewDesign(o engine.Operator, devices []engine.Device, openings int, l *Learned) *Design {
	d := &Design{openings: openings, Bases: ChooseBases(l.Ran), recipes: l.Recipes}
	if len(d.Bases) == 0 {
		return d
	}
	b := &designer{Design: d, op: o.Schema, devices: devices, added: o.Added, stored: o.Texts, makers: o.Makers,
		base: d.Bases[0], offered: l.Offered}
	b.together()
	b.scalars()
	b.tensors()
	b.sharing()
	if o.Own() {
		slices.SortStableFunc(d.Classes, func(x, y argClass) int { return cmp.Compare(b.rank(x), b.rank(y)) })
		d.usual = sort.Search(len(d.Classes), func(i int) bool { return b.rank(d.Classes[i]) > len(telling) })
	}
	d.Classes = append(d.Classes, b.late...)
	return d
}

type designer struct {
	*Design
	op      *schema.Op
	devices []engine.Device
	added   bool // of a library, whose kernels may accept any form of tensor
	stored  []string
	makers  []*schema.Op
	base    *sample.Case
	offered map[int][]sample.Value
	late    []argClass // of values that crash kernels which rely on them
}

// keyClasses are the classes worth trying in pairs, besides every word.
var keyClasses = []string{
	"float64", "float16", "bfloat16", "int64", "bool", "complex64", "transposed", "sliced", "expanded", "channels-last",
	"channels-last-3d", "requires-grad",
	"channels 16", "last dimension 64", "more than 32768", "first dimension 0", "first dimension 1", "unbatched", "0-dim",
	"const:0", "special", "negative",
	"odd sides", "true", "false", "None", "given", "-1", "0", "1", "0.5", "[]",
}

func isKey(class string) bool {
	return slices.Contains(keyClasses, class) || strings.HasPrefix(class, `"`)
}

// telling are the classes of tensors that show what no opening does in ops that are not PyTorch's. With the openings
// they find 0.991 of the findings in planted ops, in 0.34 of the time: docs/measure/cases.
var telling = []string{
	"between", "complex64", "negative", "const:NaN", "const:1", "offset", "one column", "inference", "sized between",
	"dtypes differ 2", "0-dim", "requires-grad", "empty", "None", "given", "[]", "[Tensor ]",
}

// tellingWritten are those of annotated arguments alone, which show what is written beyond one.
var tellingWritten = []string{"sliced", "conj"}

// rank returns the place of a class among those that are tried first, or their number. Numbers, flags and words
// choose branches: they are tried after the classes of tensors.
func (b *designer) rank(a argClass) int {
	annotated := func(arg schema.Argument) bool { return arg.Name == a.arg && arg.Alias != nil }
	switch i := slices.Index(telling, a.name); {
	case i >= 0:
		return i
	case a.scalar && !strings.HasPrefix(a.name, "["),
		slices.Contains(tellingWritten, a.name) && slices.ContainsFunc(b.op.Func.Args, annotated):
		return len(telling)
	}
	return len(telling) + 1
}

var daring = whenUsed(`^(u?int\d+ )?(max|lowest|negative|wide|special)$`)

func grouped(arg, class string) bool { return class == "2" && strings.HasSuffix(arg, "groups") }

func (b *designer) add(arg string, all ...valueClass) {
	for _, v := range all {
		b.Classes = append(b.Classes, argClass{arg: arg, valueClass: v, key: isKey(v.name) || grouped(arg, v.name)})
	}
}

// main selects the tensors with the call's numbers: no indices, no masks, and no results.
func (b *designer) main() (of selector, dtype string) {
	first := -1
	for _, c := range slices.Concat(b.Bases, b.recipes) {
		for i, arg := range b.op.Func.Args {
			if ts := c.Args[i].AppendTensors(nil); first < 0 && len(ts) > 0 && !IsOut(arg) {
				first, dtype = i, ts[0].DType
			}
		}
	}
	if first < 0 {
		return nil, ""
	}
	return func(c *sample.Case) []*sample.TensorSpec {
		var out []*sample.TensorSpec
		model := c.Args[first].AppendTensors(nil)
		if len(model) == 0 {
			return nil
		}
		dtype := model[0].DType
		for i, arg := range b.op.Func.Args {
			for _, t := range c.Args[i].AppendTensors(nil) {
				if t.DType == dtype && !IsOut(arg) {
					out = append(out, t)
				}
			}
		}
		return out
	}, dtype
}

// together varies all tensors of the call at once.
func (b *designer) together() {
	of, dtype := b.main()
	if of == nil {
		return
	}
	for _, v := range slices.Concat(tensorClasses(of, dtype, false), b.relatives(of), endClasses(of, dtype)) {
		b.place("", dtype, v)
	}
	b.add("", b.sizeClasses(of)...)
	if len(of(b.base)) > 1 {
		b.add("", class1("equal", of.each(setFill(sample.Fill{Name: "equal"}))))
		if b.added {
			others := selector(func(c *sample.Case) []*sample.TensorSpec { return of(c)[min(1, len(of(c))):] })
			b.add("", class1("first dimension 0 beside the first tensor", others.each(withoutRows)))
		}
		for turn := range 3 {
			b.add("", class1("dtypes differ "+strconv.Itoa(turn), func(c *sample.Case) bool {
				for k, t := range Separate(of(c), c.Tensors()) {
					setDType([]string{"float32", "float64", "int64", "float16"}[(k+turn)%4])(t)
				}
				return true
			}))
		}
	}
}

// families are groups of forms: an op that accepts one is likely to accept the others.
var families = [][]engine.Form{
	{engine.COO, engine.COOUncoalesced, engine.COOHybrid, engine.CSR, engine.CSC, engine.BSR, engine.BSC},
	{engine.Nested, engine.NestedEven}, {engine.Quantized, engine.PerChannel}, {engine.Mkldnn},
}

// relatives returns classes of the forms that the op is likely to accept, as it accepts others of
// their families or that is unknown, and of the dtypes of quantized ones.
func (b *designer) relatives(of selector) []valueClass {
	var all []valueClass
	for i, family := range families {
		if !b.added && !slices.ContainsFunc(b.Bases, func(c *sample.Case) bool { return familyOf(c) == 1+i }) {
			continue
		}
		for _, f := range family {
			if f != engine.Quantized && f != engine.PerChannel {
				all = append(all, class1(tensor.Forms[f], of.each(setForm(f))))
				continue
			}
			for _, d := range sample.QuantizedDTypes {
				all = append(all, class1(d+" "+tensor.Forms[f], of.each(setQuantized(d, f))))
			}
		}
	}
	return all
}

// place adds a class, at the end if it may crash the process.
func (b *designer) place(arg, dtype string, v valueClass) {
	if daring().MatchString(v.name) && (sample.Element(dtype).Class() == tensor.Integral ||
		strings.Contains(v.name, "int")) {
		class := argClass{arg: arg, valueClass: v}
		class.key = arg == "" && wide(class)
		b.late = append(b.late, class)
		return
	}
	b.add(arg, v)
}

// tensors varies each argument's tensors alone.
func (b *designer) tensors() {
	several := len(b.base.Tensors()) > 1
	for i, arg := range b.op.Func.Args {
		ts := b.base.Args[i].AppendTensors(nil)
		for _, c := range b.Bases {
			if len(ts) == 0 && arg.Type.Kind == schema.List { // none in the first
				ts = c.Args[i].AppendTensors(nil)
			}
		}
		if b.base.Omits(i) && Unwrap(arg.Type).Name == "Tensor" {
			b.optional(i, arg)
		}
		if len(ts) == 0 {
			continue
		}
		if several || IsOut(arg) {
			for _, v := range slices.Concat(tensorClasses(ofArg(i), ts[0].DType, IsOut(arg)), b.relatives(ofArg(i))) {
				b.place(arg.Name, ts[0].DType, v)
			}
		}
		if several && b.added {
			of := selector(ofArg(i)) // a single column may serve for each of the others'
			b.add(arg.Name, class1("one column", of.each(fewerColumns(1))), class1("two columns", of.each(fewerColumns(2))))
		}
		if IsOut(arg) {
			count, large := setFill(sample.Fill{Name: "count"}), setSizes(b.base.Tensors()[0].Sizes...)
			for _, way := range []struct {
				name string
				set  func(*sample.TensorSpec) bool
			}{
				{"sized", setAll(large, count)},
				{"sized sliced", setAll(large, count, setLayout(tensor.Sliced, 0))},
				{"sized offset", setAll(large, count, setLayout(tensor.Offset, 0))},
				{"sized between", setAll(large, count, setLayout(tensor.Between, 0))},
				{"sized transposed", setAll(large, count, setLayout(tensor.Transposed, 0))},
				{"sized channels-last", setAll(large, count, setLayout(tensor.ChannelsLast, 4))},
				{"7 elements", setAll(setSizes(7), count)},
				{"7 elements offset", setAll(setSizes(7), count, setLayout(tensor.Offset, 0))},
				{"empty functional", setAll(setSizes(0), setForm(engine.Functional))},
			} {
				b.add(arg.Name, class1(way.name, selector(ofArg(i)).each(way.set)))
			}
		}
		if t := Unwrap(arg.Type); t.Kind == schema.List {
			b.add(arg.Name, listLengths(i, t)...)
			if b.added {
				b.late = append(b.late, argClass{arg: arg.Name,
					valueClass: tensorList(i, "["+strconv.Itoa(manyTensors)+" Tensor]", ofLength(manyTensors))})
			}
			for _, v := range tensorClasses(lastOf(i), ts[0].DType, true) {
				v.name = "last " + v.name
				b.add(arg.Name, v)
			}
		}
	}
}

func (b *designer) optional(i int, arg schema.Argument) {
	_, dtype := b.main()
	given := b.given(i, arg)
	for _, v := range tensorClasses(ofArg(i), cmp.Or(dtype, "float32"), false) {
		if isKey(v.name) || isDType(v.name) || v.name == "empty" {
			set := v.ways[0]
			v.ways = append(v.ways, func(c *sample.Case) bool { return given(c) && set(c) })
			b.add(arg.Name, v)
		}
	}
	b.add(arg.Name, class1("an element a column", func(c *sample.Case) bool {
		of := Model(c.Tensors())
		if of == nil || len(of.Sizes) < 2 || !given(c) {
			return false
		}
		columns := slices.Clone(of.Sizes[len(of.Sizes)-1:])
		for _, t := range Separate(c.Args[i].AppendTensors(nil), c.Tensors()) {
			t.Sizes = columns
			t.Legal()
		}
		return true
	}))
}

// scalars varies every argument that is not a tensor, and omits optional ones.
func (b *designer) scalars() {
	for i, arg := range b.op.Func.Args {
		t := Unwrap(arg.Type)
		if arg.Type.Kind == schema.Optional {
			b.add(arg.Name, class1("None", SetValue(i, sample.None())))
			if slices.ContainsFunc(slices.Concat(b.Bases, b.recipes), func(c *sample.Case) bool { return c.Omits(i) }) {
				b.add(arg.Name, class1("given", b.given(i, arg)))
			}
		}
		var all []sample.Value
		switch {
		case t.Kind == schema.List && IsInt(t.Elem[0]):
			all = intLists(b.listAt(i, arg), t.Size)
		case t.Kind == schema.List && len(ScalarValues(t.Elem[0].Name, b.devices)) > 0 && t.Elem[0].Kind == schema.Base:
			all = plainLists(b.listAt(i, arg), t.Elem[0].Name, t.Size, b.devices)
		case t.Kind == schema.Base && t.Name == "str":
			all = b.texts(i, arg)
		case t.Kind == schema.Base:
			all = ScalarValues(t.Name, b.devices)
		}
		b.values(i, arg, slices.Concat(b.offered[i], all))
		b.objects(i, arg)
		if b.added && t.Kind == schema.Base && IsInt(t) {
			b.bounds(i, arg)
		}
		if t.Kind == schema.Base && IsInt(t) {
			for _, n := range largeInts {
				b.late = append(b.late, argClass{arg: arg.Name,
					valueClass: class1(strconv.FormatInt(n, 10), SetValue(i, sample.Int(n)))})
			}
		}
	}
}

// values adds a class for each of the values that an argument accepts, those that its kernel names first.
func (b *designer) values(i int, arg schema.Argument, all []sample.Value) {
	known, fixed := make(map[string]bool), Unwrap(arg.Type).Size
	for k, v := range all {
		name := v.String()
		if Unwrap(arg.Type).Name == "Scalar" && v.Kind == sample.FloatValue {
			name = v.Recipe() // 1.0
		}
		if known[name] {
			continue
		}
		known[name] = true
		base := b.base.Args[i]
		small := IsInt(Unwrap(arg.Type)) && base.Kind == sample.IntValue && (base.Int == 0 || base.Int == 1)
		class := argClass{
			arg: arg.Name, valueClass: class1(name, SetValue(i, v)), scalar: true, above: small && v.Int > 1,
			key: (isKey(name) || byTwo(arg.Name, v) || grouped(arg.Name, name)) && !(small && v.Int == base.Int),
		}
		switch {
		case v.Kind == sample.ListValue && fixed > 0 && len(v.List) != fixed:
			b.late = append(b.late, class)
			continue
		case v.Kind == sample.TextValue && k >= len(b.offered[i]) && !slices.Contains(words[arg.Name], v.Text):
			class.key = false // a kernel that accepts one text accepts any
		}
		b.Classes = append(b.Classes, class)
	}
}

// bounds adds classes of an integer that is a size of the call's tensors, their number of elements,
// or one more: a kernel that compares it with one of these may be wrong by one.
func (b *designer) bounds(i int, arg schema.Argument) {
	add := func(name string, of func(ts []*sample.TensorSpec) int64) {
		for by, plus := range []string{"", " plus 1"} {
			b.add(arg.Name, class1(name+plus, func(c *sample.Case) bool {
				n := of(b.inputs(c))
				return n > 0 && SetValue(i, sample.Int(n+int64(by)))(c)
			}))
		}
	}
	most := 0
	for _, c := range b.Bases {
		most = max(most, len(symbols(b.inputs(c))))
	}
	for k := range most {
		add("size number "+strconv.Itoa(k+1), func(ts []*sample.TensorSpec) int64 {
			if sizes := symbols(ts); k < len(sizes) {
				return sizes[k]
			}
			return 0
		})
	}
	if most > 0 {
		add("elements", func(ts []*sample.TensorSpec) int64 {
			if len(ts) == 0 {
				return 0
			}
			return tensor.Numel(ts[0].Sizes)
		})
	}
}

func (b *designer) objects(i int, arg schema.Argument) {
	for _, maker := range b.makers {
		if returns := maker.Func.Returns; returns[0].Type.String() == Unwrap(arg.Type).String() {
			v := madeBy(sample.NewRandom(0, arg.Name, 0), maker, &Themes[0])
			b.add(arg.Name, class1("made by "+v.Text, SetValue(i, v)))
		}
	}
}

// byTwo reports whether a value is a step of two in each direction.
func byTwo(arg string, v sample.Value) bool {
	name := strings.Contains(arg, "stride") || strings.Contains(arg, "dilation") || arg == "step"
	return name && (v.Int == 2 || len(v.List) > 0 && v.String() == same(len(v.List), 2).String())
}

func (b *designer) listAt(i int, arg schema.Argument) []sample.Value {
	if v := b.base.Args[i]; v.Kind == sample.ListValue && len(v.List) > 0 {
		return v.List
	}
	v := ofType(sample.NewRandom(0, arg.Name, 0), arg, Unwrap(arg.Type), &Themes[0])
	if len(v.List) == 0 {
		return same(2, 1).List
	}
	return v.List
}

// given returns a change that sets an optional argument which the base omits.
func (b *designer) given(i int, arg schema.Argument) func(*sample.Case) bool {
	arg.Type = Unwrap(arg.Type)
	return func(c *sample.Case) bool {
		if !c.Omits(i) {
			return true
		}
		th := Themes[0]
		if ts := c.Tensors(); len(ts) > 0 {
			all := Separate(ts, ts)
			th.sizes, th.dtype = all[0].Sizes, all[0].DType
		}
		Separate(c.Tensors(), c.Tensors())
		c.Args[i] = ofType(sample.NewRandom(0, arg.Name, 1), arg, arg.Type, &th)
		return c.Args[i].Kind != sample.NoneValue
	}
}

// texts returns the words that an argument's name and its default suggest, followed by the usual words.
func (b *designer) texts(i int, arg schema.Argument) []sample.Value {
	all := slices.Clone(words[arg.Name])
	if d, err := strconv.Unquote(strings.ReplaceAll(arg.Default, "'", `"`)); err == nil {
		all = append(all, d)
	}
	for _, w := range usualWords {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	if len(b.offered[i]) > 1 { // the kernel named the valid ones
		all = all[:min(len(all), 3)]
	} else {
		all = append(all, storedWords(b.stored, arg.Name)...)
	}
	return texts(sample.TextValue, all)
}

// mostStored limits the words of a library that are tried for an argument.
const mostStored = 128

// storedWords returns the words among the texts of a library, first those in a message that names the argument.
func storedWords(stored []string, arg string) []string {
	var offered, alone []string
	for _, text := range stored {
		switch {
		case plain.MatchString(text):
			alone = append(alone, text)
		case containsWord(text, arg):
			offered = append(offered, namedWords(text)...)
		}
	}
	all := append(offered, alone...)
	return all[:min(len(all), mostStored)]
}

// sharing makes two tensors the same, or views of one storage.
func (b *designer) sharing() {
	outs := OutsOf(b.op, b.base)
	for j := range min(len(outs), 6) {
		for i := range j {
			if outs[i] || outs[j] {
				continue
			}
			share := func(set func(t *sample.TensorSpec)) func(*sample.Case) bool {
				return func(c *sample.Case) bool {
					outs, ts := OutsOf(b.op, c), c.Tensors()
					if j >= len(ts) || outs[i] || outs[j] {
						return false
					}
					set(Separate(ts, ts)[j])
					return true
				}
			}
			pair := strconv.Itoa(i+1) + " and " + strconv.Itoa(j+1)
			b.add("", class1("same tensor "+pair, share(func(t *sample.TensorSpec) { t.Same = i + 1 })),
				class1("views of one storage "+pair, share(func(t *sample.TensorSpec) { t.View = i + 1 })))
		}
	}
}

// sizeClasses are sizes changed in several tensors together.
func (b *designer) sizeClasses(of selector) []valueClass {
	var all []valueClass
	add := func(name string, n int64, ways []resize, everywhere ...resize) {
		v := valueClass{name: name}
		for _, way := range ways {
			v.ways = append(v.ways, way.on(of, n))
		}
		for _, way := range everywhere {
			v.ways = append(v.ways, way.on(b.inputs, n))
		}
		all = append(all, v)
	}
	for _, n := range []int64{0, 1, 8} {
		add("first dimension "+strconv.FormatInt(n, 10), n, []resize{leading, symbol(0, false), symbol(0, true), alone(0)},
			leading, symbol(0, true))
	}
	for _, n := range []int64{0, 1, 7, 8, 64} {
		add("last dimension "+strconv.FormatInt(n, 10), n, []resize{trailing, symbol(-1, false), symbol(-1, true), alone(-1)},
			symbol(-1, true))
	}
	for _, n := range []int64{0, 4, 16, 32} {
		add("channels "+strconv.FormatInt(n, 10), n, []resize{channels, ofRank(3, symbol(1, false)),
			ofRank(3, symbol(1, true))})
	}
	rows, columns := []resize{beyond(batches), beyond(leading), beyond(symbol(0, false))},
		[]resize{beyond(trailing), beyond(symbol(-1, true))}
	add("more than 4096", 4096, slices.Concat(rows, columns, []resize{beyond(alone(0))}))
	add("more than 32768", 32768, slices.Concat(columns, rows, []resize{beyond(alone(0))})) // in long rows
	add("odd sides", 0, []resize{odd})
	add("unbatched", 0, []resize{unbatched(0, false)}, unbatched(0, false), unbatched(0, true), unbatched(1, false))
	add("batched", 2, []resize{batched})
	add("6 dimensions", 6, []resize{deepened})
	for k, d := range symbols(of(b.base)) {
		for _, n := range []int64{1, 8, 16} {
			if d != n {
				add("size "+strconv.FormatInt(d, 10)+" is "+strconv.FormatInt(n, 10), n, []resize{every(k, false), every(k, true)})
			}
		}
	}
	return all
}

// A resize changes sizes of tensors of a call, of which m is the model; n is the new size.
type resize func(c *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool

// on makes the change to the selected tensors, if they have a model.
func (way resize) on(of selector, n int64) func(*sample.Case) bool {
	return func(c *sample.Case) bool {
		ts := Separate(of(c), c.Tensors())
		m := Model(ts)
		return m != nil && way(c, ts, m, n)
	}
}

// Model returns the first of the tensors with the most dimensions.
func Model(ts []*sample.TensorSpec) *sample.TensorSpec {
	var m *sample.TensorSpec
	for _, t := range ts {
		if m == nil || len(t.Sizes) > len(m.Sizes) {
			m = t
		}
	}
	if m == nil || len(m.Sizes) == 0 {
		return nil
	}
	return m
}

// leading changes the first dimension of the tensors with the most dimensions.
func leading(_ *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
	d, rank := m.Sizes[0], len(m.Sizes)
	for _, t := range ts {
		if len(t.Sizes) == rank && t.Sizes[0] == d {
			t.Sizes[0] = n
		}
	}
	return true
}

// trailing changes the last dimension of every tensor with the model's size there.
func trailing(_ *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
	d := m.Sizes[len(m.Sizes)-1]
	for _, t := range ts {
		if r := len(t.Sizes); r > 0 && t.Sizes[r-1] == d {
			t.Sizes[r-1] = n
		}
	}
	return true
}

// channels changes the second dimension, and vectors of its size.
func channels(_ *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
	if len(m.Sizes) < 3 {
		return false
	}
	d := m.Sizes[1]
	for _, t := range ts {
		switch r := len(t.Sizes); {
		case r >= 3 && t.Sizes[1] == d:
			t.Sizes[1] = n
		case r == 1 && t.Sizes[0] == d:
			t.Sizes[0] = n
		}
	}
	return true
}

// symbol changes every dimension with the size of one of the model's, and integers with that value if numbers is set.
func symbol(dim int, numbers bool) resize {
	return func(c *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
		return dim < len(m.Sizes) && replaceSize(c, ts, m.Sizes[(dim+len(m.Sizes))%len(m.Sizes)], n, numbers)
	}
}

// ofRank makes the change if the model has a number of dimensions.
func ofRank(rank int, way resize) resize {
	return func(c *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
		return len(m.Sizes) >= rank && way(c, ts, m, n)
	}
}

// every changes the call's size number k in every argument that has it.
func every(k int, numbers bool) resize {
	return func(c *sample.Case, ts []*sample.TensorSpec, _ *sample.TensorSpec, n int64) bool {
		all := symbols(ts)
		return k < len(all) && replaceSize(c, ts, all[k], n, numbers)
	}
}

func replaceSize(c *sample.Case, ts []*sample.TensorSpec, d, n int64, numbers bool) bool {
	for _, t := range ts {
		for k := range t.Sizes {
			if t.Sizes[k] == d {
				t.Sizes[k] = n
			}
		}
	}
	if numbers {
		changed := false
		for i := range c.Args {
			changed = c.Args[i].ReplaceInt(d, n) || changed
		}
		return changed
	}
	return true
}

func alone(dim int) resize {
	return func(_ *sample.Case, _ []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
		m.Sizes[(dim+len(m.Sizes))%len(m.Sizes)] = n
		return true
	}
}

// beyond makes the smallest change found that enlarges the model to more than n elements.
func beyond(way resize) resize {
	return func(c *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
		if tensor.Numel(m.Sizes) == 0 {
			return false
		}
		for to := int64(65); to <= 1<<16+1; to = 2*to - 1 {
			if !way(c, ts, m, to) {
				return false
			}
			if tensor.Numel(m.Sizes) <= n {
				continue
			}
			for part := int64(5); part < 8 && to > 65; part++ { // for sizes that may become twice as large
				if way(c, ts, m, part*to/8|1); tensor.Numel(m.Sizes) > n {
					return true
				}
			}
			return way(c, ts, m, to)
		}
		return false
	}
}

// batches enlarges a batch: a longer first dimension if it counts samples, or a further one before the others.
func batches(c *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
	if len(m.Sizes) == 1 || len(m.Sizes) == 3 && m.Sizes[0] > 64 || len(m.Sizes) > 3 {
		return leading(c, ts, m, n)
	}
	return batched(c, ts, m, n)
}

func (b *designer) inputs(c *sample.Case) (ts []*sample.TensorSpec) {
	for i, arg := range b.op.Func.Args {
		if !IsOut(arg) {
			ts = c.Args[i].AppendTensors(ts)
		}
	}
	return ts
}

// odd makes the sides of the first tensor with the most dimensions odd.
func odd(_ *sample.Case, _ []*sample.TensorSpec, m *sample.TensorSpec, _ int64) bool {
	if len(m.Sizes) < 3 {
		return false
	}
	for i := min(2, len(m.Sizes)-1); i < len(m.Sizes); i++ {
		m.Sizes[i] |= 1
	}
	return true
}

// unbatched removes a dimension from the tensors with the most, and if others is set from others of that size there.
func unbatched(dim int, others bool) resize {
	return func(_ *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, _ int64) bool {
		if dim >= len(m.Sizes) {
			return false
		}
		d, rank := m.Sizes[dim], len(m.Sizes)
		for _, t := range ts {
			if (len(t.Sizes) == rank || others && len(t.Sizes) > dim) && t.Sizes[dim] == d {
				t.Sizes = slices.Delete(slices.Clone(t.Sizes), dim, dim+1)
				t.Legal()
			}
		}
		return true
	}
}

func batched(_ *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
	return len(m.Sizes) <= 5 && prepend(ts, len(m.Sizes), []int64{n})
}

// deepened prepends dimensions of size 1 to the tensors with the most, up to n.
func deepened(_ *sample.Case, ts []*sample.TensorSpec, m *sample.TensorSpec, n int64) bool {
	return int64(len(m.Sizes)) < n && prepend(ts, len(m.Sizes), slices.Repeat([]int64{1}, int(n)-len(m.Sizes)))
}

func prepend(ts []*sample.TensorSpec, rank int, sizes []int64) bool {
	for _, t := range ts {
		if len(t.Sizes) == rank {
			t.Sizes = slices.Concat(sizes, t.Sizes)
			t.Legal()
		}
	}
	return true
}

func symbols(ts []*sample.TensorSpec) []int64 {
	var all []int64
	for _, t := range ts {
		for _, n := range t.Sizes {
			if !slices.Contains(all, n) && len(all) < 4 {
				all = append(all, n)
			}
		}
	}
	return all
}

// coveringRows combines key classes, up to four in a row, so that as many pairs as possible are in
// some row, the most urgent first. A choice that no base accepts alone may need another.
func coveringRows(classes []argClass, taken func(int) bool, most int) []ClassRow {
	type pair struct{ a, b int }
	type urgent struct {
		pair
		rank int
	}
	var pairs []urgent
	var keys []int
	factors := make([]string, len(classes))
	wanted := make(map[pair]bool)
	for b, class := range classes {
		if !class.key || !taken(b) && !class.choice() {
			continue
		}
		factors[b] = factor(class)
		for _, a := range keys {
			other := classes[a]
			if factors[a] == factors[b] && (other.arg == class.arg || factors[a] != "" && (other.arg == "" || class.arg == "")) {
				continue // one undoes the other
			}
			if wide(class) && !other.above {
				continue
			}
			if taken(a) && taken(b) || other.choice() && class.choice() {
				pairs = append(pairs, urgent{pair{a, b}, urgency(other, class, factors[a], factors[b])})
				wanted[pair{a, b}] = true
			}
		}
		keys = append(keys, b)
	}
	rng := sample.NewRandom(0, "rows", len(classes))
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	slices.SortStableFunc(pairs, func(p, q urgent) int { return p.rank - q.rank })
	slices.SortStableFunc(keys, func(a, b int) int { return leftOut(classes[a]) - leftOut(classes[b]) })
	want := func(a, b int) bool { return wanted[pair{min(a, b), max(a, b)}] }
	var rows []ClassRow
	for _, p := range pairs {
		if len(rows) >= most {
			break
		}
		if !wanted[p.pair] {
			continue
		}
		together := []int{p.a, p.b}
		more := func(fits func(c int) bool) bool {
			i := slices.IndexFunc(keys, func(c int) bool { return !slices.Contains(together, c) && fits(c) })
			if i >= 0 {
				together = append(together, keys[i])
			}
			return i >= 0
		}
		wantAll := func(c int) bool {
			return !slices.ContainsFunc(together, func(a int) bool { return !want(a, c) })
		}
		if !few(classes[p.a]) && !few(classes[p.b]) && classes[p.a].arg+classes[p.b].arg == "" {
			more(func(c int) bool { return classes[c].arg == "" && !few(classes[c]) && wantAll(c) })
		}
		if p.rank != coupled &&
			(p.rank != flagged || !more(func(c int) bool { return classes[c].name == "0" || classes[c].name == "given" })) {
			more(func(c int) bool { return classes[c].arg+classes[p.a].arg != "" && wantAll(c) })
		}
		small := slices.ContainsFunc(together, func(c int) bool { return few(classes[c]) })
		for i, a := range together {
			for _, b := range together[:i] {
				if !small || few(classes[a]) || few(classes[b]) {
					delete(wanted, pair{min(a, b), max(a, b)})
				}
			}
		}
		rows = append(rows, ClassRow{Classes: together})
		if p.rank == coupled { // newly made sizes may fit although these do not
			rows = append(rows, ClassRow{Classes: together}, ClassRow{Classes: together})
		}
		if i := slices.IndexFunc(keys,
			func(c int) bool { return classes[c].arg == "" && classes[c].name == "bool" }); i >= 0 && p.rank == flagged {
			rows = append(rows, ClassRow{Classes: append(slices.Clone(together), keys[i])}) // often a kernel of its own
		}
	}
	return rows
}

// choice reports whether a class is one of few values of an argument, some of which require one of another argument.
func (a argClass) choice() bool {
	switch a.name {
	case "true", "false", "None", "given", "[]":
		return a.arg != ""
	}
	return a.arg != "" && strings.HasPrefix(a.name, `"`)
}

// wide reports whether a class has integers of either sign, which a kernel may divide or shift by a number above 1.
func wide(c argClass) bool { return strings.HasSuffix(c.name, "wide") }

func (a argClass) twos() bool {
	return a.scalar && strings.Contains(a.name, "2") && strings.Trim(a.name, "[2, ]") == ""
}

// leftOut returns 1 for the class of an omitted argument: others come first, since most calls have those.
func leftOut(c argClass) int {
	if c.name == "None" {
		return 1
	}
	return 0
}

// flagged is the urgency of a flag, or a given argument, with a size that may matter: no element or dimension.
const flagged = 0

// coupled is the urgency of groups with another given argument, such as a bias: sizes depend on
// both, so a third class seldom fits.
const coupled = -1

// urgency orders pairs of classes. Fast paths require a size, and a layout or a dtype; after them
// come pairs about one sort of thing, tensors or arguments. fx and fy are their factors.
func urgency(x, y argClass, fx, fy string) int {
	both := x.arg+y.arg == ""
	none := func(c argClass) bool { return c.arg == "" && (c.name == "0-dim" || c.name == "first dimension 0") }
	switch {
	case grouped(x.arg, x.name) && y.name == "given" || x.name == "given" && grouped(y.arg, y.name):
		return coupled
	case none(x) && (y.name == "true" || y.name == "given") || (x.name == "true" || x.name == "given") && none(y):
		return flagged
	case x.name == "odd sides" && y.twos() || x.twos() && y.name == "odd sides", wide(y):
		return 1
	case x.above && fy == " layout" || fx == " layout" && y.above,
		both && min(fx, fy) == " layout" && max(fx, fy) == " sizes" && !none(x) && !none(y), x.choice() && y.choice():
		return 1
	case both && (fx == " dtype" && vectors(y.name) || vectors(x.name) && fy == " dtype"):
		return 2
	case (x.arg == "") == (y.arg == "") && fx != " fill" && fy != " fill":
		return 3
	}
	return 4
}

// few reports whether a class has tensors with few elements, in which others hardly matter.
func few(c argClass) bool {
	return c.name == "0-dim" || c.name == "unbatched" || strings.HasPrefix(c.name, "first dimension")
}

// vectors reports whether a class has sizes or values for which a dtype has code of its own: of
// vector registers, of threads, of the ends of a range.
func vectors(class string) bool {
	return class == "more than 32768" || class == "channels 16" || class == "last dimension 64" || class == "special"
}

func isDType(name string) bool {
	_, ok := tensor.ParseDType(name)
	return ok
}

// factor returns the property of an argument that a class sets: two classes with the same one exclude each other.
func factor(c argClass) string {
	switch name := c.name; {
	case c.scalar:
		return ""
	case isDType(name):
		return " dtype"
	case slices.Contains(tensor.Arrangements, name) || name == "channels-last-3d":
		return " layout"
	case slices.Contains(tensor.Forms, name):
		return " form"
	case strings.HasPrefix(name, "const") || name == "negative" || name == "special":
		return " fill"
	case strings.Contains(name, "dimension") || name == "odd sides" || strings.HasPrefix(name, "channels ") ||
		strings.HasPrefix(name, "more than") || name == "unbatched" || name == "0-dim" || name == "one element":
		return " sizes"
	}
	return ""
}

// Learned are the facts about an op that its openings show, for its design.
type Learned struct {
	Ran     []*sample.Case
	Recipes []*sample.Case         // from recipes
	Offered map[int][]sample.Value // values in errors, by argument

	// Origins are those of the value classes that a call ran with, by case.
	Origins map[int]report.Origin
}
