package design

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// A check without a message throws its C++ condition, such as "Expected input.size(0) ==
// mask.size(0) to be true". These patterns match the terms of conditions about tensors.
var (
	inCondition = findsAll(`([\w.\->()\[\]]+?)\s*(==|!=|>=|>|<=|<)\s*(-?[\w.:\->()\[\]]+)`)
	term        = findsAll(`^\(*(\w+?)_?(?:\.|->|_)(dim|ndim|ndimension|numel|shape|sizes?|scalar_type|dtype|` +
		`type)_*(?:\(\)?(-?\d*)\)*)?(?:\[(-?\d+)\]|\.size\(\))?\)*$`)
	dtypeTerm   = regexp.MustCompile(`^(?:at::|torch::|torch\.|c10::|scalartype::)*k?(\w+?)\)*$`)
	remainder   = findsAll(`([\w.\->()\[\]]+)\s*%\s*\(?(\w+(?:\s*\*\s*\w+)*)\)*\s*==\s*0\b`)
	amongDTypes = findsAll(`([\w.]+\.dtype) in [\[({]([^\])}]*)`)
	predicate   = findsAll(`(\w+)(?:\.|->)is_floating_point\(|isfloatingtype\((\w+)|isintegraltype\((\w+)|` +
		`tensor_is_rank\((\w+), (\d+)\)`)
)

// withoutRemainders returns a condition without its terms that remainder matches.
func withoutRemainders(text string) string {
	for _, c := range remainder(text) {
		text = strings.Replace(text, c[0], "", 1)
	}
	return text
}

// condition changes the case so that a condition in an error holds, or one of several joined by ||.
func (m *revision) condition(groups []string) bool {
	text := m.indexed(groups[1])
	if either := strings.Split(text, "||"); !strings.Contains(text, "&&") {
		text = sample.Pick(m.rng, either)
	}
	changed := m.remainders(text)
	for _, c := range inCondition(withoutRemainders(text)) {
		l, operator, r := c[1], c[2], strings.TrimRight(c[3], ":") // before a message
		left, right := m.term(l), m.term(r)
		l, r = m.shown(left, l), m.shown(right, r)
		if left.holds(operator, right, r) {
			continue
		}
		if right.known() && (!left.known() || sample.OneIn(m.rng, 2)) {
			left, right, r, operator = right, left, l, strings.NewReplacer("<", ">", ">", "<").Replace(operator)
		}
		changed = left.set(operator, right, r) || changed
	}
	return m.predicates(text) || changed
}

// shown returns the number that the error prints after a term that is not an argument, or else the term.
func (m *revision) shown(t argumentTerm, text string) string {
	for strings.HasSuffix(text, ")") && strings.Count(text, ")") > strings.Count(text, "(") {
		text = strings.TrimSuffix(text, ")")
	}
	_, behind, _ := strings.Cut(strings.ToLower(m.text), "): ")
	if _, after, found := strings.Cut(behind, text+" "); found && t.tensor == nil && t.value == nil {
		return cmp.Or(firstNumber.FindString(after), text)
	}
	return text
}

var firstNumber = regexp.MustCompile(`^-?\d+\b`)

// indexed replaces arguments used as dimensions in a condition by their values.
func (m *revision) indexed(text string) string {
	for _, arg := range m.args {
		if v := arg.value; v.Kind == sample.IntValue {
			n, name := strconv.FormatInt(v.Int, 10), strings.ToLower(arg.Name)
			text = strings.NewReplacer("size("+name+")", "size("+n+")", "["+name+"]", "["+n+"]").Replace(text)
		}
	}
	return text
}

// remainders makes sizes and numbers multiples of their divisors in a condition.
func (m *revision) remainders(text string) bool {
	changed := false
	for _, c := range remainder(text) {
		by := int64(1)
		for factor := range strings.SplitSeq(c[2], "*") {
			factor = strings.TrimSpace(factor)
			n, ok := m.term(factor).number(factor)
			if !ok {
				n = 0
			}
			by *= n
		}
		t := m.term(c[1])
		if n, ok := t.number(c[1]); ok && t.known() && by > 1 && (n%by != 0 || n == 0) {
			changed = t.set("==", argumentTerm{}, strconv.FormatInt((n/by+1)*by, 10)) || changed
		}
	}
	return changed
}

// predicates sets the dtypes and the numbers of dimensions that the functions in a condition require.
func (m *revision) predicates(text string) bool {
	changed := false
	for _, c := range amongDTypes(text) {
		words := strings.Split(c[2], ",")
		changed = m.term(c[1]).set("==", argumentTerm{}, strings.TrimSpace(sample.Pick(m.rng, words))) || changed
	}
	for _, c := range predicate(text) {
		t, word := m.term(c[1]+c[2]+c[3]+".dtype()"), "float"
		if t.tensor == nil {
			t, word = m.term(c[4]+".dim()"), c[5]
		} else if dtype, _ := tensor.ParseDType(t.tensor.DType); c[3] != "" {
			word = "long"
		} else if dtype.Class() == tensor.Floating {
			continue
		}
		changed = t.set("==", argumentTerm{}, word) || changed
	}
	return changed
}

// An argumentTerm is a property of an argument in a condition.
type argumentTerm struct {
	tensor *sample.TensorSpec // nil if the text names no tensor
	value  *sample.Value      // a number
	what   string             // "dim", "size", "sizes", "numel", "dtype"
	at     int
}

func (t argumentTerm) known() bool { return t.tensor != nil || t.value != nil }

// dtype returns the dtype of the term, or the one in the text.
func (t argumentTerm) dtype(text string) (string, bool) {
	switch {
	case t.tensor != nil:
		return t.tensor.DType, true
	case t.value != nil && t.value.Kind == sample.DTypeValue:
		return t.value.Text, true
	}
	dtype, ok := tensor.DTypeOfWord(dtypeTerm.ReplaceAllString(text, "$1"))
	return dtype.String(), ok
}

func (m *revision) term(text string) argumentTerm {
	var g []string
	if found := term(text); len(found) > 0 {
		g = found[0]
	}
	if t := m.numbered(strings.TrimSuffix(strings.Trim(text, "() "), ".value")); t.value != nil || g == nil {
		return t
	}
	t := argumentTerm{what: g[2]}
	t.at, _ = strconv.Atoi(g[3] + g[4])
	switch {
	case g[2] == "ndimension" || g[2] == "ndim" || strings.HasSuffix(text, ".size()"):
		t.what = "dim"
	case g[2] == "scalar_type" || g[2] == "type":
		t.what = "dtype"
	case (g[2] == "sizes" || g[2] == "shape") && g[4] != "":
		t.what = "size"
	case g[2] == "shape" || g[2] == "size" && g[3] == "" && strings.HasSuffix(text, "size()"):
		t.what = "sizes"
	}
	if i := m.argument(g[1]); i >= 0 {
		if ts := m.args[i].value.AppendTensors(nil); len(ts) > 0 {
			t.tensor = Separate(ts[:1], m.c.Tensors())[0]
		}
	}
	return t
}

// numbered returns the named argument if it is a number or a dtype.
func (m *revision) numbered(name string) argumentTerm {
	for _, arg := range m.args {
		if v := arg.value; strings.EqualFold(arg.Name, name) &&
			(v.Kind == sample.IntValue || v.Kind == sample.FloatValue || v.Kind == sample.DTypeValue) {
			return argumentTerm{value: v, what: "value"}
		}
	}
	return argumentTerm{}
}

// holds reports whether the comparison of a term with another one, or with a text, is known to be true.
func (t argumentTerm) holds(operator string, other argumentTerm, text string) bool {
	if t.what == "dtype" || t.what == "sizes" || !t.known() {
		return false
	}
	a, ok := t.number("")
	b, known := other.number(text)
	return ok && known && map[string]bool{"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b,
		">=": a >= b}[operator]
}

// argument returns the index of the argument that a kernel's variable is named after, such as input for input_c, or -1.
func (m *revision) argument(variable string) int {
	found := -1
	for i, arg := range m.args {
		name := strings.ToLower(arg.Name)
		if name == variable {
			return i
		}
		related := strings.HasPrefix(variable, name) || len(variable) > 1 && strings.HasPrefix(name, variable)
		if related && (found < 0 || len(name) > len(m.args[found].Name)) {
			found = i
		}
	}
	return found
}

// set makes the comparison of the term with another one, or with a text, true, and reports whether the case changed.
func (t argumentTerm) set(operator string, other argumentTerm, text string) bool {
	if !t.known() {
		return false
	}
	if t.value != nil {
		return t.setValue(operator, other, text)
	}
	before := t.tensor.String()
	if t.what == "dtype" {
		if dtype, ok := other.dtype(text); ok {
			t.tensor.DType = dtype
		}
	} else if t.what == "sizes" || t.what == "numel" && operator == "==" && other.what == t.what {
		if other.tensor != nil {
			t.tensor.Sizes = slices.Clone(other.tensor.Sizes)
		}
	} else if n, ok := other.number(text); ok {
		t.resize(int(comparing(operator, n)))
	}
	t.tensor.Legal()
	return t.tensor.String() != before
}

func comparing(operator string, n int64) int64 {
	switch operator {
	case ">", "!=":
		n++
	case "<":
		n--
	}
	return n
}

func (t argumentTerm) setValue(operator string, other argumentTerm, text string) bool {
	before := t.value.String()
	switch n, ok := other.number(text); {
	case t.value.Kind == sample.DTypeValue:
		if dtype, ok := other.dtype(text); ok {
			t.value.Text = dtype
		}
	case !ok:
	case t.value.Kind == sample.IntValue:
		t.value.Int = comparing(operator, n)
	case operator == "<" || operator == ">":
		t.value.Float = (float64(n) + float64(comparing(operator, n))) / 2
	default:
		t.value.Float = float64(n)
	}
	return t.value.String() != before
}

// number returns the current value of the term, or the number in the text.
func (t argumentTerm) number(text string) (int64, bool) {
	switch {
	case t.value != nil && t.value.Kind == sample.IntValue:
		return t.value.Int, true
	case t.tensor == nil:
		n, err := strconv.ParseInt(strings.Trim(text, "():"), 10, 64)
		return n, err == nil && t.value == nil
	}
	switch t.what {
	case "dim":
		return int64(len(t.tensor.Sizes)), true
	case "numel":
		return tensor.Numel(t.tensor.Sizes), true
	case "size":
		if i := t.dimension(); i >= 0 {
			return t.tensor.Sizes[i], true
		}
	}
	return 0, false
}

func (t argumentTerm) dimension() int {
	i, rank := t.at, len(t.tensor.Sizes)
	if i < 0 {
		i += rank
	}
	if i < 0 || i >= rank {
		return -1
	}
	return i
}

func (t argumentTerm) resize(n int) {
	switch {
	case n < 0 || n > 1<<12:
	case t.what == "dim" && n < len(byRank):
		t.tensor.Sizes = sized(n, t.tensor.Sizes)
	case t.what == "numel":
		t.tensor.Sizes = []int64{int64(n)}
	case t.what == "size":
		for t.at >= len(t.tensor.Sizes) && t.at < len(byRank) {
			t.tensor.Sizes = append(t.tensor.Sizes, 3)
		}
		if i := t.dimension(); i >= 0 {
			t.tensor.Sizes[i] = int64(n)
		}
	}
}

// bounded sets a number to a bound in the error, as in "heads must be positive".
func (m *revision) bounded(groups []string) bool {
	operator, text := ">=", groups[3]
	switch {
	case groups[2] == "positive":
		operator, text = ">", "0"
	case strings.HasPrefix(groups[2], "non"):
		text = "0"
	case strings.HasPrefix(groups[2], "less") || strings.HasPrefix(groups[2], "smaller") || groups[2] == "<":
		operator = "<"
	case strings.HasPrefix(groups[2], "at most") || groups[2] == "<=":
		operator = "<="
	case (strings.HasSuffix(groups[2], " than") || groups[2] == ">") && !strings.Contains(groups[2], "equal"):
		operator = ">"
	}
	t, none := m.numbered(groups[1]), argumentTerm{}
	return t.known() && !t.holds(operator, none, text) && t.setValue(operator, none, text)
}

// converted replaces the dtype in the error by the expected one, or by float32, which most kernels accept.
func (m *revision) converted(groups []string) bool {
	wants := cmp.Or(groups[2], tensor.Float32.String())
	return m.each(m.c.Tensors(), func(t *sample.TensorSpec) {
		if t.DType == groups[1] && wants != groups[1] && (groups[2] == "" || sample.OneIn(m.rng, 2)) {
			t.DType = wants
		}
	})
}

// shown returns a number in an error, the largest if that is too large.
func shown(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// elementsAt sets the size that the error expects in a dimension, or the last one, of the arguments that it names.
func (m *revision) elementsAt(groups []string) bool {
	n, at := shown(groups[1]), int64(-1)
	if len(groups) > 2 {
		at = shown(groups[2])
	}
	return m.each(m.targets(), resized(n, int(at)))
}

func resized(n int64, at int) func(*sample.TensorSpec) {
	return func(t *sample.TensorSpec) { argumentTerm{tensor: t, what: "size", at: at}.resize(int(n)) }
}

// sameAt makes the tensors that the error names agree in a dimension.
func (m *revision) sameAt(groups []string) bool {
	at, ts := int(shown(groups[1])), m.targets()
	if len(ts) < 2 {
		return false
	}
	Separate(ts, m.c.Tensors())
	n, ok := argumentTerm{tensor: ts[0], what: "size", at: at}.number("")
	return ok && m.each(ts[1:], resized(n, at))
}

// described sets the dtype and the sizes of the tensors that the error names to the expected ones, as in "seq_lens must
// be int64 [n]". A letter has the same size in all errors: that of the first tensor described with it.
func (m *revision) described(groups []string) bool {
	dtype := ""
	for word := range strings.FieldsSeq(groups[1]) {
		if d, ok := tensor.DTypeOfWord(word); ok {
			dtype = d.String()
		}
	}
	letters := strings.FieldsFunc(strings.ReplaceAll(groups[2], " x ", ","),
		func(r rune) bool { return r == ',' || r == ' ' })
	unfit := func(letter string) bool { _, ok := tensor.DTypeOfWord(letter); return ok }
	if ContainsAny(groups[1], []string{"in ", "one of ", "between "}) || slices.ContainsFunc(letters, unfit) {
		return false
	}
	changed := false
	for _, i := range m.mentioned() {
		differs := m.each(m.args[i].value.AppendTensors(nil), func(t *sample.TensorSpec) {
			t.Sizes, t.DType = m.lettered(letters, t.Sizes), cmp.Or(dtype, t.DType)
		})
		changed = differs || changed
	}
	return changed
}

// lettered returns the sizes for letters, numbers and arguments; has are the present sizes of the tensor.
func (m *revision) lettered(letters []string, has []int64) []int64 {
	sizes := make([]int64, len(letters))
	for k, letter := range letters {
		if n, err := strconv.ParseInt(letter, 10, 64); err == nil {
			sizes[k] = min(n, 1<<12)
			continue
		}
		if t := m.numbered(letter); t.value != nil && t.value.Kind == sample.IntValue {
			sizes[k] = max(0, min(t.value.Int, 64))
			continue
		}
		letter = m.kin(letter)
		if _, known := m.size[letter]; !known {
			m.size[letter] = sample.SymbolSizes[len(m.size)%4]
			if first := Model(m.c.Tensors()); len(has) == len(letters) {
				m.size[letter] = has[k]
			} else if k == 0 && first != nil {
				m.size[letter] = first.Sizes[0]
			}
		}
		sizes[k] = m.size[letter]
	}
	return sizes
}

// kin returns the word that earlier errors used for the length of a sequence, if an unknown letter
// is such a word, too: q_len after "[heads, seq, dim]".
func (m *revision) kin(letter string) string {
	if _, known := m.size[letter]; known || !lengthOf.MatchString(letter) {
		return letter
	}
	for _, other := range slices.Sorted(maps.Keys(m.size)) {
		if lengthOf.MatchString(other) {
			return other
		}
	}
	return letter
}

var lengthOf = regexp.MustCompile(`(^|_)(len|length|seq|seqlen|seq_len|tokens)($|_[a-z]$)`)

func (m *revision) dimensioned(groups []string) bool {
	n := shown(groups[1])
	n = max(n, -n-1)
	return m.each(m.c.Tensors(), func(t *sample.TensorSpec) {
		if len(t.Sizes) == 0 && n < int64(len(byRank)-1) {
			t.Sizes = sized(int(n+1), t.Sizes)
		}
	})
}

// have sets the channels, or the last dimension, of the argument that the error names if its size is the printed one.
func (m *revision) have(groups []string) bool {
	i := m.argument(groups[1])
	want, has := shown(groups[2]), shown(groups[3])
	if i < 0 || want > 1<<12 {
		return false
	}
	return m.each(m.args[i].value.AppendTensors(nil), func(t *sample.TensorSpec) {
		at := len(t.Sizes) - 1
		if len(t.Sizes) > 2 {
			at = 1
		}
		if at >= 0 && t.Sizes[at] == has {
			t.Sizes[at] = want
		}
	})
}

// vectorOf makes an argument a vector with one element for each row, channel or column of another.
//
// Source: aten/src/ATen/native/group_norm.cpp, check_group_norm_inputs.
func (m *revision) vectorOf(groups []string) bool {
	vector, of := m.argument(groups[1]), m.argument(groups[3])
	if vector < 0 || of < 0 {
		return false
	}
	model := Model(m.args[of].value.AppendTensors(nil))
	if model == nil {
		return false
	}
	dim := map[string]int{"channel": 1, "column": len(model.Sizes) - 1}[groups[2]]
	return dim < len(model.Sizes) &&
		m.each(m.args[vector].value.AppendTensors(nil),
			func(t *sample.TensorSpec) { t.Sizes = slices.Clone(model.Sizes[dim : dim+1]) })
}

// divisible makes the dimension that the error names, the channels, or the last dimension a multiple of a number or of
// an argument; if it is one already, the first size of all tensors but the first.
func (m *revision) divisible(groups []string) bool {
	n, _ := strconv.ParseInt(groups[2], 10, 64)
	i := m.argument(groups[2])
	if i < 0 { // num_groups, for an argument groups
		i = slices.IndexFunc(m.args, func(g given) bool { return strings.HasSuffix(groups[2], "_"+g.Name) })
	}
	if i >= 0 && m.args[i].value.Kind == sample.IntValue {
		n = m.args[i].value.Int
	}
	ts := Separate(m.c.Tensors(), m.c.Tensors())
	big := Model(ts)
	if big == nil || n < 2 || n > 64 {
		return false
	}
	at := len(big.Sizes) - 1
	if from, err := strconv.Atoi(groups[1]); err == nil && len(big.Sizes)+from >= 0 {
		at = len(big.Sizes) + from
	} else if strings.Contains(m.text, "channel") {
		at = min(at, 1)
	}
	if d := big.Sizes[at]; d%n != 0 {
		return replaceSize(m.c, ts, d, (d/n+1)*n, false)
	}
	return m.each(ts[1:], func(t *sample.TensorSpec) {
		if len(t.Sizes) > 0 && t.Sizes[0]%n != 0 {
			t.Sizes[0] = (t.Sizes[0]/n + 1) * n
		}
	})
}

// larger increases the sizes of the first tensor.
func (m *revision) larger([]string) bool {
	ts := Separate(m.c.Tensors(), m.c.Tensors())
	if len(ts) == 0 || tensor.Numel(ts[0].Sizes) > 1<<12 {
		return false
	}
	sizes := ts[0].Sizes
	for i := min(2, max(0, len(sizes)-1)); i < len(sizes); i++ {
		sizes[i] *= 3
	}
	return len(sizes) > 0
}

// grouped adapts the weight, or else the input, of a convolution to its groups.
//
// Source: aten/src/ATen/native/Convolution.cpp, check_shape_forward.
func (m *revision) grouped(groups []string) bool {
	n, weight, input := shown(groups[1]), m.sized(parseSizes(groups[2])), m.sized(parseSizes(groups[3]))
	switch {
	case n < 1 || n > 64 || weight == nil:
		return false
	case groups[3] == "":
		weight.Sizes[0] = (weight.Sizes[0] + n - 1) / n * n
	case len(weight.Sizes) < 2 || input == nil || len(input.Sizes) != len(weight.Sizes):
		return false
	case input.Sizes[1]%n == 0 && input.Sizes[1] > 0:
		weight.Sizes[1] = input.Sizes[1] / n
	default:
		input.Sizes[1] = weight.Sizes[1] * n
	}
	return true
}

// biased makes a bias with one element for each channel of a convolution.
func (m *revision) biased(groups []string) bool {
	n, bias := shown(groups[1]), m.sized(parseSizes(groups[2]))
	if n > 1<<12 || bias == nil {
		return false
	}
	bias.Sizes = []int64{n}
	return true
}

// sized returns the last tensor of these sizes, separated from the others, or nil.
func (m *revision) sized(sizes []int64) *sample.TensorSpec {
	all := m.c.Tensors()
	for _, t := range slices.Backward(all) {
		if slices.Equal(t.Sizes, sizes) {
			return Separate([]*sample.TensorSpec{t}, all)[0]
		}
	}
	return nil
}
