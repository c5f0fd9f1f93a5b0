package allowlist

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Range is a set of versions: the bounds must all hold. The zero Range contains every version, unknown ones included.
type Range struct{ bounds []bound }

type bound struct {
	op      string // ">=", "<=", "==", ">", "<"
	version []int
}

// parseRange reads a range such as ">=1.13, <2.6".
func parseRange(text string) (Range, error) {
	var r Range
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		digits := strings.TrimLeft(part, "<>=")
		op := part[:len(part)-len(digits)]
		if !slices.Contains([]string{">=", "<=", "==", ">", "<"}, op) {
			return Range{}, fmt.Errorf("version bound %q does not begin with one of >= <= == > <", part)
		}
		version, err := parseVersion(strings.TrimSpace(digits))
		if err != nil {
			return Range{}, err
		}
		r.bounds = append(r.bounds, bound{op, version})
	}
	return r, nil
}

// contains reports whether the version is in the range. A version that can't be parsed, such as an
// empty one, is only in the zero Range.
func (r Range) contains(version string) bool {
	if len(r.bounds) == 0 {
		return true
	}
	v, err := parseVersion(version)
	return err == nil && !slices.ContainsFunc(r.bounds, func(b bound) bool { return !b.holds(v) })
}

func (b bound) holds(v []int) bool {
	c := slices.Compare(v, b.version)
	switch b.op {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	}
	return c == 0
}

// number is that of a release, to which a local part ("+cpu") or a pre-release mark ("a0") may be added.
var number = regexp.MustCompile(`^\d+(?:\.\d+)*`)

// parseVersion reads "2.6.0", which is "2.6".
func parseVersion(text string) ([]int, error) {
	release := number.FindString(text)
	if release == "" || strings.HasPrefix(text[len(release):], ".") {
		return nil, fmt.Errorf("version %q is not of the form 2.6 or 2.6.0", text)
	}
	var v []int
	for part := range strings.SplitSeq(release, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("version %q: %w", text, err)
		}
		v = append(v, n)
	}
	for v[len(v)-1] == 0 && len(v) > 1 {
		v = v[:len(v)-1]
	}
	return v, nil
}
