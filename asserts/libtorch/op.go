package libtorch

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// An Op is one operator overload of the live dispatcher. It must not be changed.
type Op struct {
	Name      string // "aten::add.Tensor"
	Namespace string // "aten"
	Schema    string // as in native_functions.yaml: "add.Tensor(Tensor self, ...) -> Tensor"
	Args      []Argument
	Returns   []Return

	Composite bool     // has a CompositeImplicitAutograd kernel and none for the CPU: it decomposes
	Top       bool     // also without a kernel for CPU tensors below autograd: calls begin at autograd
	Autograd  bool     // has a kernel for autograd, or a CompositeImplicitAutograd one
	Raises    bool     // has a kernel for ADInplaceOrView, which raises the versions of arguments that it may write
	CPU       bool     // has a kernel that runs on dense CPU tensors
	Runs      []string // dispatch keys of the sorts of CPU tensors that it can run on
	Meta      bool     // can run on meta
	Kernels   []string // dispatch keys with a kernel of their own, sorted
	Tags      []string // sorted
	File      string   // where its schema is registered, "" if unknown
	Line      int
	Kernel    uint64 // address of the function of its kernel for the CPU, or of one with that in its name; 0: none

	address        int64
	vararg, varret bool
	subjects       []int // the indices of arguments that hold tensors
}

// An Argument is one parameter.
type Argument struct {
	Name    string
	Type    string // with its alias annotation: "Tensor(a!)[]"
	Default string // the text after "=", "" for none
	KwargOnly,
	Write bool // annotated (a!)

	holds holding
}

// A Return is one result.
type Return struct {
	Name string // "" unless the schema names it
	Type string

	holds holding
}

// Holding is how a type holds tensors, in the words of kind_of in schemas.cpp.
type holding string

func (h holding) subject() bool { return h != "" && h != "x" }
func (h holding) list() bool    { return h.subject() && h[0] != 't' }

// keep replaces records by earlier ones if they are equal.
func (l *listing) keep(old map[string]*operatorRecord) {
	for name, r := range old {
		if now := l.records[name]; now == nil || now.text == r.text {
			l.records[name] = r
		}
	}
}

// parseListing splits the list that schemas.cpp writes into operators.
func parseListing(text string) map[string]*operatorRecord {
	found := make(map[string]*operatorRecord)
	for part := range strings.SplitSeq(text, "\x1eop\x1f") {
		part = strings.TrimSuffix(strings.TrimPrefix(part, "op\x1f"), "\x1e")
		_, rest, _ := strings.Cut(part, "\x1f")
		name, rest, _ := strings.Cut(rest, "\x1f")
		overload, _, whole := strings.Cut(rest, "\x1f")
		if !whole {
			continue
		}
		found[join(name, overload)] = &operatorRecord{text: part}
	}
	return found
}

func join(name, overload string) string {
	if overload == "" {
		return name
	}
	return name + "." + overload
}

func (r *operatorRecord) parse() *Op {
	records := strings.Split(r.text, "\x1e")
	op := newOp(strings.Split(records[0], "\x1f"))
	for _, record := range records[1:] {
		switch f := strings.Split(record, "\x1f"); f[0] {
		case "arg":
			flags := strings.Fields(f[4])
			a := Argument{
				Name:      f[1],
				Type:      f[2],
				Default:   f[3],
				KwargOnly: slices.Contains(flags, "kwarg"),
				Write:     slices.Contains(flags, "write"),
				holds:     holding(f[5]),
			}
			if a.holds.subject() {
				op.subjects = append(op.subjects, len(op.Args))
			}
			op.Args = append(op.Args, a)
		case "ret":
			op.Returns = append(op.Returns, Return{Name: f[1], Type: f[2], holds: holding(strings.Replace(f[3], "c", "x", 1))})
		}
	}
	op.Schema = op.spell()
	return op
}

func newOp(f []string) *Op {
	flags := strings.Fields(f[4])
	op := &Op{
		Name:      join(f[1], f[2]),
		Kernels:   strings.Fields(f[3]),
		Composite: slices.Contains(flags, "composite"),
		Top:       slices.Contains(flags, "top"),
		Autograd:  slices.Contains(flags, "autograd"),
		Raises:    slices.Contains(flags, "raises"),
		Meta:      slices.Contains(flags, "meta"),
		Tags:      strings.Fields(f[5]),
	}
	for _, f := range flags {
		if key, ok := strings.CutPrefix(f, "on:"); ok {
			op.Runs = append(op.Runs, key)
		}
	}
	op.CPU = slices.Contains(op.Runs, "CPU")
	op.File, op.Line = registered(f[6])
	op.Kernel, _ = strconv.ParseUint(f[7], 10, 64)
	op.address, _ = strconv.ParseInt(f[0], 10, 64)
	op.Namespace, _, _ = strings.Cut(op.Name, "::")
	op.vararg = slices.Contains(flags, "vararg")
	op.varret = slices.Contains(flags, "varret")
	slices.Sort(op.Kernels)
	slices.Sort(op.Tags)
	return op
}

var registration = regexp.MustCompile(`^registered at (.*):([0-9]+)$`)

// registered parses the position in "registered at oplib.cpp:12".
func registered(debug string) (file string, line int) {
	if m := registration.FindStringSubmatch(debug); m != nil {
		file = m[1]
		line, _ = strconv.Atoi(m[2])
	}
	return file, line
}

// spell returns the schema as in native_functions.yaml.
func (op *Op) spell() string {
	var args []string
	for i, a := range op.Args {
		if a.KwargOnly && (i == 0 || !op.Args[i-1].KwargOnly) {
			args = append(args, "*")
		}
		text := a.Type + " " + a.Name
		if a.Default != "" {
			text += "=" + a.Default
		}
		args = append(args, text)
	}
	head := strings.TrimPrefix(op.Name, "aten::") + "(" + strings.Join(args, ", ")
	if op.vararg {
		head += "..."
	}
	returns := slicesx.Map(op.Returns, func(r Return) string { return strings.TrimSuffix(r.Type+" "+r.Name, " ") })
	if op.varret {
		returns = append(returns, "...")
	}
	if len(returns) == 1 && !strings.HasPrefix(returns[0], "(") {
		return head + ") -> " + returns[0]
	}
	return head + ") -> (" + strings.Join(returns, ", ") + ")"
}
