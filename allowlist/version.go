package allowlist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Range is a set of versions: the bounds must all hold. The zero Range contains every version,
// unknown ones included.
type Range struct {
	bounds []bound
}

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
		switch op {
		case ">=", "<=", "==", ">", "<":
		default:
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
	c := compareVersions(v, b.version)
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

// parseVersion reads "2.6.0"; a local part ("+cpu") or a pre-release mark
// ("a0") ends the number it follows.
func parseVersion(text string) ([]int, error) {
	var v []int
	for _, part := range strings.Split(text, ".") {
		end := 0
		for end < len(part) && '0' <= part[end] && part[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			return nil, fmt.Errorf("version %q is not of the form 2.6 or 2.6.0", text)
		}
		v = append(v, n)
		if end < len(part) {
			break
		}
	}
	return v, nil
}

func compareVersions(a, b []int) int {
	for i := range max(len(a), len(b)) {
		var x, y int
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return x - y
		}
	}
	return 0
}
