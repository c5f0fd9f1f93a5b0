package cli

import (
	"fmt"
	"io"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/vet"
)

// checksHelp is the output of opassert help checks: every check, by the kind of
// promise that it checks.
func checksHelp(w io.Writer) {
	for _, p := range asserts.Promises() {
		fmt.Fprintf(w, "%s: %s\n", p, p.Rule())
		for c := range asserts.AllCodes.All() {
			if c.Promise() == p {
				fmt.Fprintf(w, "  %v  %-17s %-9s %s\n", c, c.Name(), levelOf(c), c.Rule())
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "kernels' code: read by opassert vet; //opassert:allow CODE reason excuses a line")
	for _, f := range vet.Findings() {
		fmt.Fprintf(w, "  %s  %-17s %-9s %s\n", f.Code, f.Name, "vet", f.Rule)
	}
	fmt.Fprint(w, `
The third column is the least level at which a check is judged; lint and vet
call nothing. opassert explain CODE prints the consequence, the fix, and when a check
is skipped.
`)
}

func levelOf(c asserts.Code) string {
	if c.Level() == asserts.Off {
		return "lint"
	}
	return c.Level().String()
}
