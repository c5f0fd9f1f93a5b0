package yamlfile

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Suggest returns the end of a message about an unknown word: the nearest known word, or nothing if none is near.
func Suggest(word string, known []string) string {
	nearest, least := "", max(len(word)/3, 1)+1
	for _, k := range known {
		if d := distance(word, k, least); d < least {
			nearest, least = k, d
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", nearest)
}

// SuggestOp is Suggest for the name of an op: one that is the same except for an overload, a
// trailing underscore or letter case, or else the nearest of those that begin alike.
func SuggestOp(name string, known iter.Seq[string]) string {
	const alike = 3
	var same, near []string
	for k := range known {
		switch {
		case plainName(k) == plainName(name):
			same = append(same, k)
		case strings.HasPrefix(k, name[:min(alike, len(name))]):
			near = append(near, k)
		}
	}
	if len(same) > 0 {
		shorter := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }
		return "; did you mean " + slices.MinFunc(same, shorter) + "?"
	}
	slices.Sort(near)
	return Suggest(name, near)
}

func plainName(op string) string {
	base, _, _ := strings.Cut(op, ".")
	return strings.ToLower(strings.Trim(base, "_"))
}

// distance is the number of letters to add, drop, change or swap with their
// neighbour to make b from a. It is most where it would be more.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most { //mutate:equivalent false: only saves time
		return most
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], most)
}
