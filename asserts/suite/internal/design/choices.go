package design

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// Values that hardly any kernel accepts: its error lists those that it accepts.
const (
	nonsense = "opassert"
	probeInt = 1009
)

var (
	quoted = whenUsed("['\"`]([\\w.+-]{1,24})['\"`]")
	// choice matches the part of an error before the list of valid values.
	choice = whenUsed(`(?i)\b(?:one of|must be|should be|expected|expects|either|choose from|supported?(?: \w+)? (?:are|` +
		`is)|supports|allowed(?: \w+)?|valid(?: \w+)?(?: are| is)?|options(?: are)?|available(?: are)?|among|only|in|want|` +
		`use|accepts?|takes|known|includes?|has to be|can be|may be|between)\b[: ]*`)
	// listed matches the beginning of a list of several choices.
	listed = whenUsed(`[:=({\[][ ({\[]*`)
	// spaced matches a list at the end of the error, of words with spaces between.
	spaced = whenUsed(`(?i)(?:known|valid|supported|allowed|available|options|choices|modes|values|one of):? ` +
		`((?:[a-z][\w-]+ ){1,7}[a-z][\w-]+)\W*$`)
	plain  = regexp.MustCompile(`^[A-Za-z][\w-]{0,23}$`)
	number = regexp.MustCompile(`-?\b\d+(?:\.\d+)?\b`)
)

var (
	namedWords = cached(offeredWords)
	choices    = cached(func(text string) [][]int { return choice().FindAllStringIndex(text, -1) })
)

// offeredWords finds the texts that an error offers: the quoted ones, or those in an enumeration: "mode should be
// nearest or bilinear", "one of {a, b}", "modes: a | b".
func offeredWords(text string) []string {
	var all []string
	add := func(words []string) {
		for _, w := range words {
			if w != nonsense && len(all) < 12 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	for _, m := range quoted().FindAllStringSubmatch(text, -1) {
		add(m[1:])
	}
	if len(all) > 1 {
		return all
	}
	for _, at := range choices(text) {
		add(enumeration(text[at[1]:]))
	}
	for _, at := range listed().FindAllStringIndex(text, -1) {
		if words := enumeration(text[at[1]:]); len(words) > 1 {
			add(words)
		}
	}
	if m := spaced().FindStringSubmatch(text); len(all) < 2 && m != nil {
		add(strings.Fields(m[1]))
	}
	return all
}

// enumeration parses words with commas, bars, slashes, "or" and "and" between; these may precede the next one.
func enumeration(text string) []string {
	text, _, _ = strings.Cut(text, "\n")
	var all []string
	joined := true
	for _, field := range strings.Fields(strings.NewReplacer("|", " , ", "/", " , ", ",", ", ").Replace(text)) {
		if field == "or" || field == "and" || field == "," {
			joined = true
			continue
		}
		word := strings.Trim(field, ",.;:'\"`()[]{}")
		if !joined && slices.Contains(articles, all[len(all)-1]) { // before a noun
			return all[:len(all)-1]
		}
		if !joined || !plain.MatchString(word) {
			break
		}
		all = append(all, word)
		if joined = strings.HasSuffix(field, ","); strings.ContainsAny(field, ")]};.") {
			break
		}
	}
	return all
}

var articles = []string{"a", "an", "the"}

// Probe returns an invalid value of a type; false if every value of the type is valid.
func Probe(t schema.Type) (sample.Value, bool) {
	switch t = Unwrap(t); {
	case t.Name == "str":
		return sample.Text(nonsense), true
	case IsInt(t):
		return sample.Int(probeInt), true
	case t.Name == "float" || t.Name == "Scalar":
		return sample.Float(-probeInt), true
	}
	return sample.Value{}, false
}

// Choices returns the values that an error offers for an argument with a probe.
func Choices(probe sample.Value, text string) []sample.Value {
	if probe.Kind == sample.TextValue {
		return texts(sample.TextValue, namedWords(text))
	}
	var found []sample.Value
	for _, n := range number.FindAllString(text, 8) {
		if v, _ := strconv.ParseFloat(n, 64); math.Abs(v) < probeInt { // infinite if out of range
			for _, d := range []float64{0, -1, 1} {
				value := sample.Float(v + d)
				if probe.Kind == sample.IntValue {
					value = sample.Int(int64(v + d))
				}
				if !slices.ContainsFunc(found, func(w sample.Value) bool { return w.String() == value.String() }) {
					found = append(found, value)
				}
			}
		}
	}
	return found
}
