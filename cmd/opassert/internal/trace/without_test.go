package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

// The violations of a log without one of its lines, replaced by dots, and of one with
// two lines swapped, if they differ from the log's.
func TestWithoutALine(t *testing.T) {
	logs, _ := filepath.Glob("testdata/*.log")
	var b strings.Builder
	for _, name := range logs {
		lines := strings.SplitAfter(string(must.Get(os.ReadFile(name))(t)), "\n")
		whole := shown(lines)
		fmt.Fprintf(&b, "%s\n%s", filepath.Base(name), whole)
		for i, line := range lines {
			for _, change := range []struct {
				name  string
				lines []string
			}{{"without", []string{"prose\n"}}, {"dots for", []string{"...\n"}}, {"later", []string{lines[min(i+1, len(lines)-1)], line}}} {
				if got := shown(slices.Replace(slices.Clone(lines), i, min(i+len(change.lines), len(lines)), change.lines...)); got != whole {
					fmt.Fprintf(&b, "%s %d\n%s", change.name, i+1, got)
				}
			}
		}
	}
	golden.Compare(t, "golden/lines.txt", b.String())
}

// shown lists the violations of a log.
func shown(lines []string) string {
	report, _ := follow(strings.Join(lines, ""))
	var b strings.Builder
	for _, v := range slices.Concat(report.Violations, report.Warnings) {
		fmt.Fprintf(&b, "\t%v %v at %d of %v", v.Code, v.Cause, v.Line, v.Lines())
		for _, more := range []struct {
			name  string
			value any
		}{{"consequence", v.Consequence}, {"found", v.Found}, {"tensor", v.Tensor}, {"from", v.Root}, {"or", v.Warning}} {
			if text := fmt.Sprint(more.value); text != "" && text != "0" {
				fmt.Fprintf(&b, ", %s %s", more.name, text)
			}
		}
		for _, a := range v.Against {
			fmt.Fprintf(&b, ", against %d", a.Line)
		}
		b.WriteString("\n")
	}
	return b.String()
}
