package sample

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// References returns the references to other arguments in a value.
func (v Value) References(all []string) []string {
	if v.Kind == SameValue {
		all = append(all, v.Text)
	}
	for _, e := range v.List {
		all = e.References(all)
	}
	return all
}

var referred = regexp.MustCompile(`^(same|view):(\w+)(?:\[(\d+)\])?$`)

// ArgumentOf returns the argument that a reference names.
func ArgumentOf(ref string) string { return referred.FindStringSubmatch(ref)[2] }

// Refer resolves references: to a tensor by its number, otherwise by that of the argument.
func (c *Case) Refer() {
	var starts []int // number of tensors before each argument
	for i := range c.Args {
		starts = append(starts, len((&Case{Args: c.Args[:i]}).Tensors()))
		c.Args[i].refer(c, i, starts)
	}
}

func (v *Value) refer(c *Case, i int, starts []int) {
	for k := range v.List {
		v.List[k].refer(c, i, starts)
	}
	if v.Kind != SameValue {
		return
	}
	parts := referred.FindStringSubmatch(v.Text)
	j := slices.IndexFunc(c.Names[:i], func(name string) bool { return name == parts[2] })
	if n, ok := strings.CutPrefix(parts[2], "_"); ok && j < 0 {
		if n, err := strconv.Atoi(n); err == nil && n < i {
			j = n
		}
	}
	if j < 0 {
		*v = Value{}
		return
	}
	element, _ := strconv.Atoi(parts[3])
	ts := c.Args[j].AppendTensors(nil)
	if c.Args[j].Kind != TensorValue && parts[3] == "" || element >= len(ts) {
		v.Int = int64(j)
		return
	}
	t := *ts[element]
	t.Sizes = slices.Clone(t.Sizes)
	at := starts[j] + element + 1
	if t.Same > 0 {
		at = t.Same
	}
	if t.Same, t.View = at, 0; parts[1] == "view" {
		t.Same, t.View = 0, at
	}
	*v = Value{Kind: TensorValue, Tensor: &t}
}
