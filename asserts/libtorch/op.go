package libtorch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/opassert/opassert/internal/loop"
)

// An Op is one operator overload of the live dispatcher. It must not be
// changed.
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

	address        int64
	vararg, varret bool
	subjects       []subject // the arguments that hold tensors
}

// A subject is an argument that holds tensors.
type subject struct {
	index int
	list  bool
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

// registry is the last listing of the dispatcher.
var registry struct {
	mu     sync.Mutex // held while listing again
	listed atomic.Pointer[listing]
	alone  sync.Map // by name, the records that were read before there was a listing
}

// A listing is the operators that the dispatcher listed. Parsing thousands of operators takes
// longer than most calls, so each is parsed when it is requested.
type listing struct {
	records map[string]*operatorRecord
	made    func() map[string]bool // the types of objects that some op returns
}

// An operatorRecord is an operator of a listing.
type operatorRecord struct {
	text string
	once sync.Once
	op   *Op
}

func (r *operatorRecord) read() *Op {
	r.once.Do(func() { r.op = r.parse() })
	return r.op
}

// all returns every operator, sorted by name.
func (l *listing) all() []*Op {
	return loop.Map(slices.Sorted(maps.Keys(l.records)), func(name string) *Op { return l.records[name].read() })
}

// objects parses only the records: most workers need one op.
func (l *listing) objects() map[string]bool {
	made := make(map[string]bool)
	for _, op := range l.records {
		for line := range strings.SplitSeq(op.text, "\x1e") {
			if line, is := strings.CutPrefix(line, "ret\x1f"); is {
				_, typ, _ := strings.Cut(line, "\x1f")
				typ, _, _ = strings.Cut(typ, "\x1f")
				if class := objectType(typ); class != "" {
					made[class] = true
				}
			}
		}
	}
	return made
}

// Ops returns every operator with a schema, sorted by name.
func Ops() ([]*Op, error) {
	l, err := listed()
	if err != nil {
		return nil, err
	}
	return l.all(), nil
}

// Names returns the names of every operator with a schema.
func Names() (map[string]bool, error) {
	l, err := listed()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(l.records))
	for name := range l.records {
		names[name] = true
	}
	return names, nil
}

// Lookup finds an operator by name: "aten::add.Tensor", "aten::relu".
func Lookup(name string) (*Op, error) {
	r, err := recordOf(name)
	if err != nil {
		return nil, err
	}
	if r != nil {
		return r.read(), nil
	}
	return nil, fmt.Errorf("libtorch has no operator %s; names look like aten::add.Tensor; LoadLibrary loads a library with further operators", name)
}

// recordOf returns the record of an operator, or nil. It does not list others: most workers and
// programs need few.
func recordOf(name string) (*operatorRecord, error) {
	if l := registry.listed.Load(); l != nil {
		return l.records[name], nil
	}
	if r, ok := registry.alone.Load(name); ok {
		return r.(*operatorRecord), nil
	}
	if err := start(); err != nil {
		return nil, err
	}
	text, err := schemas(name)
	read := parseListing(text)[name]
	if err != nil || read == nil {
		return nil, err
	}
	r, _ := registry.alone.LoadOrStore(name, read)
	return r.(*operatorRecord), nil
}

// schemas returns the list that schemas.cpp writes for one operator, or for all.
func schemas(name string) (string, error) {
	return ask("list operators", crossing{function: fnSchemas, data: []byte(name)}, (*reader).text)
}

func listed() (*listing, error) {
	if l := registry.listed.Load(); l != nil {
		return l, nil
	}
	if err := start(); err != nil {
		return nil, err
	}
	return list()
}

// list lists the operators again. Earlier Ops remain valid, unless a library brought kernels for
// them, as one with a device does.
func list() (*listing, error) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	text, err := schemas("")
	if err != nil {
		return nil, err
	}
	l := &listing{records: parseListing(text)}
	l.made = sync.OnceValue(l.objects)
	if old := registry.listed.Load(); old != nil {
		l.keep(old.records)
	}
	for name, r := range registry.alone.Range {
		l.keep(map[string]*operatorRecord{name.(string): r.(*operatorRecord)})
	}
	registry.listed.Store(l)
	return l, nil
}

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
	records := make([]operatorRecord, 1+strings.Count(text, "\x1eop\x1f"))
	found := make(map[string]*operatorRecord, len(records))
	n := 0
	for part := range strings.SplitSeq(text, "\x1eop\x1f") {
		part = strings.TrimSuffix(strings.TrimPrefix(part, "op\x1f"), "\x1e")
		_, rest, _ := strings.Cut(part, "\x1f")
		name, rest, _ := strings.Cut(rest, "\x1f")
		overload, _, whole := strings.Cut(rest, "\x1f")
		if !whole {
			continue
		}
		records[n].text = part
		found[join(name, overload)] = &records[n]
		n++
	}
	return found
}

// join returns an operator's name with its overload.
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
			op.Args = append(op.Args, Argument{
				Name:      f[1],
				Type:      f[2],
				Default:   f[3],
				KwargOnly: slices.Contains(flags, "kwarg"),
				Write:     slices.Contains(flags, "write"),
				holds:     holding(f[5]),
			})
		case "ret":
			op.Returns = append(op.Returns, Return{Name: f[1], Type: f[2], holds: holding(strings.Replace(f[3], "c", "x", 1))})
		}
	}
	op.complete()
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
	op.address, _ = strconv.ParseInt(f[0], 10, 64)
	op.Namespace, _, _ = strings.Cut(op.Name, "::")
	op.vararg = slices.Contains(flags, "vararg")
	op.varret = slices.Contains(flags, "varret")
	slices.Sort(op.Kernels)
	slices.Sort(op.Tags)
	return op
}

// registered parses the position in "registered at oplib.cpp:12".
func registered(debug string) (file string, line int) {
	place, ok := strings.CutPrefix(debug, "registered at ")
	colon := strings.LastIndexByte(place, ':')
	if !ok || colon < 0 {
		return "", 0
	}
	line, err := strconv.Atoi(place[colon+1:])
	if err != nil {
		return "", 0
	}
	return place[:colon], line
}

// complete derives the fields that the listing omits.
func (op *Op) complete() {
	op.Schema = op.spell()
	for i, a := range op.Args {
		if a.holds.subject() {
			op.subjects = append(op.subjects, subject{i, a.holds.list()})
		}
	}
}

// spell returns the schema as in native_functions.yaml.
func (op *Op) spell() string {
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(op.Name, "aten::"))
	b.WriteByte('(')
	keyword := false
	for i, a := range op.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.KwargOnly && !keyword {
			b.WriteString("*, ")
			keyword = true
		}
		b.WriteString(a.Type + " " + a.Name)
		if a.Default != "" {
			b.WriteString("=" + a.Default)
		}
	}
	if op.vararg {
		b.WriteString("...")
	}
	b.WriteString(") -> ")
	returns := loop.Map(op.Returns, func(r Return) string { return strings.TrimSuffix(r.Type+" "+r.Name, " ") })
	if op.varret {
		returns = append(returns, "...")
	}
	if len(returns) == 1 && !strings.HasPrefix(returns[0], "(") {
		b.WriteString(returns[0])
	} else {
		b.WriteString("(" + strings.Join(returns, ", ") + ")")
	}
	return b.String()
}
