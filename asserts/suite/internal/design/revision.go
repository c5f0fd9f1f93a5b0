package design

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// An adapter changes a case according to the kernel's error. It first tries rules, each for one
// form of PyTorch's errors; if none applies, values in the error, and then others.
type adapter struct {
	op     *schema.Op
	makers map[string][]schema.Argument // the arguments of constructors and ops that make objects, by name
	stored []string                     // the texts of its library
	undone *schema.Op                   // the op whose results it accepts, or nil
	rng    *rand.Rand
	th     theme
	seen   map[string]int   // errors without their numbers
	used   map[tried]int    // how often
	size   map[string]int64 // by the letters for them in errors

	About []string // arguments whose values the adapter must not change
}

// tried is a rule that was used on an error.
type tried struct {
	rule  int
	error string
}

// A revision is one change of a case after an error.
type revision struct {
	*adapter
	c    *sample.Case
	args []given
	text string
}

type given struct {
	schema.Argument
	value *sample.Value
}

// revision returns a change of a case, whose arguments are those of the op, then those of calls that make objects.
func (a *adapter) revision(c *sample.Case, text string) *revision {
	m := &revision{adapter: a, c: c, text: text}
	m.take(a.op.Func.Args, c.Args)
	return m
}

func (m *revision) take(args []schema.Argument, values []sample.Value) {
	for i := range min(len(args), len(values)) {
		m.args = append(m.args, given{args[i], &values[i]})
	}
	for i := range values {
		v := &values[i]
		m.take(m.makers[v.Text], v.List)
	}
}

// mentioned returns the arguments with which the error begins a clause, or else those that it
// names, completely or in part: cu_seqlens_q by cu_seqlens, and key_cache by caches.
func (m *revision) mentioned() []int {
	var about, found, parts []int
	for i, arg := range m.args {
		name := arg.Name
		if containsWord(m.text, name+":") {
			about = append(about, i)
		}
		if containsWord(m.text, name) && (len(name) > 1 || m.subject(name)) {
			found = append(found, i)
		}
		if at := strings.LastIndexByte(name, '_'); at > 2 &&
			(containsWord(m.text, name[:at]) || containsWord(m.text, name[at+1:]+"s")) {
			parts = append(parts, i)
		}
	}
	switch {
	case len(about) > 0:
		return m.level(about)
	case len(found) > 0:
		return m.level(found)
	}
	return parts
}

// subject reports whether the error begins with a list of argument names that includes this one, as
// in "q and k must be": elsewhere a letter is a size, or a word.
func (m *revision) subject(name string) bool {
	names, _, ok := strings.Cut(m.text, " must ")
	words := strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' || r == '`' || r == '\'' })
	words = slices.DeleteFunc(words, func(w string) bool { return w == "and" })
	return ok && slices.Contains(words, name) && !slices.ContainsFunc(words, func(w string) bool { return m.at(w) < 0 })
}

// level removes, if the op and an object have arguments of the same name, those of one of them.
func (m *revision) level(found []int) []int {
	own := len(m.op.Func.Args)
	twice := slices.ContainsFunc(found, func(i int) bool {
		return i < own && slices.ContainsFunc(found, func(j int) bool { return j >= own && m.args[i].Name == m.args[j].Name })
	})
	if !twice {
		return found
	}
	of := sample.OneIn(m.rng, 2)
	return slices.DeleteFunc(found, func(i int) bool { return (i < own) == of })
}

func containsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(word)
		if (start == 0 || !isWord(text[start-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
		at = end
	}
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// targets returns the tensors that an error is about: of arguments it names, or else one at random, or all.
func (m *revision) targets() []*sample.TensorSpec {
	var out []*sample.TensorSpec
	for _, i := range m.mentioned() {
		out = m.args[i].value.AppendTensors(out)
	}
	if len(out) > 0 {
		return out
	}
	all := m.c.Tensors()
	if len(all) > 1 && sample.OneIn(m.rng, 3) {
		return []*sample.TensorSpec{sample.Pick(m.rng, all)}
	}
	return all
}

// at returns the position of the argument of that name, or -1.
func (m *revision) at(name string) int {
	return slices.IndexFunc(m.args, func(g given) bool { return strings.EqualFold(g.Name, name) })
}

// each makes a change to tensors, one by one, and reports whether any of them changed.
func (m *revision) each(ts []*sample.TensorSpec, change func(*sample.TensorSpec)) (changed bool) {
	for _, t := range Separate(ts, m.c.Tensors()) {
		before := t.String()
		change(t)
		t.Legal()
		changed = changed || t.String() != before
	}
	return changed
}

func (m *revision) setForm(ts []*sample.TensorSpec, f engine.Form) {
	m.each(ts, func(t *sample.TensorSpec) {
		t.SetForm(f)
		if f == engine.Mkldnn || f == engine.Quantized {
			t.DType = "float32"
		}
	})
}

func (m *revision) number() int64 {
	if found := digits.FindAllString(m.text, 8); len(found) > 0 && sample.OneIn(m.rng, 2) {
		if n, err := strconv.ParseInt(sample.Pick(m.rng, found), 10, 64); err == nil && n <= 64 {
			return n
		}
	}
	return sample.Pick(m.rng, []int64{0, 1, 2, 3, 4, -1, 8, 16})
}

// Separate makes tensors that are the same as others separate ones. A list that changed its length
// may contain one that refers to itself, or to none.
func Separate(ts []*sample.TensorSpec, all []*sample.TensorSpec) []*sample.TensorSpec {
	for _, t := range ts {
		for range all {
			from := max(t.Same, t.View)
			if from == 0 || from > len(all) {
				break
			}
			*t = *all[from-1]
			t.Sizes = slices.Clone(t.Sizes)
		}
		t.Same, t.View = 0, 0
	}
	return ts
}

var byRank = [][]int64{{}, {3}, {3, 3}, {2, 3, 4}, {2, 3, 4, 4}, {1, 2, 3, 4, 4}, {1, 1, 2, 3, 4, 4}}

// sized returns sizes of a number of dimensions, as similar to the old ones as possible.
func sized(n int, old []int64) []int64 {
	if len(old) > n {
		return slices.Clone(old[:n])
	}
	if len(old) == 0 || len(old)+1 < n {
		return slices.Clone(byRank[n])
	}
	return append(slices.Clone(old), 3)[:n]
}

func parseSizes(text string) []int64 {
	var sizes []int64
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && n >= 0 && n < 1000 {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func ContainsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// whenUsed compiles a pattern when it is first used: a worker may live for one call.
func whenUsed(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

const mostCached = 1 << 12

// cached returns find with a cache, as cases of one op make the same errors. The result is not to be changed.
func cached[T any](find func(text string) T) func(text string) T {
	known := make(map[string]T)
	return func(text string) T {
		found, ok := known[text]
		if !ok {
			if len(known) >= mostCached {
				clear(known)
			}
			found = find(text)
			known[text] = found
		}
		return found
	}
}

// findsAll returns a function that finds all matches of a pattern in a text, cached.
func findsAll(pattern string) func(text string) [][]string {
	compiled := whenUsed(pattern)
	return cached(func(text string) [][]string { return compiled().FindAllStringSubmatch(text, -1) })
}

var digits = regexp.MustCompile(`\d+`)
