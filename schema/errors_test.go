package schema_test

import (
	"errors"
	"go/scanner"
	"strings"
)

// allErrors returns the errors of a list, one per line.
func allErrors(err error) string {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return "no scanner.ErrorList: " + err.Error()
	}
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}
