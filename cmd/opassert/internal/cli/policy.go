package cli

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/opassert/opassert/asserts"
)

var policyCommand = command{
	name:    "policy",
	args:    "[NAME]",
	summary: "show which checks are skipped for which tensors and modes",
	run:     runPolicy,
}

// A shownPolicy is a policy in the form of policy -json.
type shownPolicy struct {
	Policy string               `json:"policy"`
	Lines  []asserts.PolicyLine `json:"lines"`
}

func runPolicy(inv *invocation) error {
	asJSON := newJSONFlag(inv.flags, "array")
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	shown, err := policies(inv.flags.Arg(0))
	if err != nil {
		return err
	}
	if *asJSON {
		return inv.json(shown)
	}
	w := tabwriter.NewWriter(inv.stdout, 0, 0, 2, ' ', 0)
	for i, p := range shown {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "POLICY %s\tSKIPS\n", p.Policy)
		for _, line := range p.Lines {
			fmt.Fprintf(w, "%s\t%s\n", line.For, skips(line.Skips))
		}
	}
	return w.Flush()
}

func policies(name string) ([]shownPolicy, error) {
	var shown []shownPolicy
	var names []string
	for _, p := range asserts.Presets() {
		names = append(names, p.Name)
		if name == "" || name == p.Name {
			shown = append(shown, shownPolicy{p.Name, p.Table()})
		}
	}
	if len(shown) == 0 {
		slices.Sort(names)
		return nil, usagef("no policy %q; there are %s", name, strings.Join(names, ", "))
	}
	return shown, nil
}

// skips lists the skipped checks, or the others if these are fewer.
func skips(c asserts.Codes) string {
	others := asserts.AllCodes &^ c
	switch {
	case c == 0:
		return "nothing"
	case bits.OnesCount64(uint64(others)) < bits.OnesCount64(uint64(c)):
		return fmt.Sprintf("all but %v", others)
	}
	return c.String()
}
