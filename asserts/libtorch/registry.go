package libtorch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/opassert/opassert/internal/slicesx"
)

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

type operatorRecord struct {
	text string
	once sync.Once
	op   *Op
}

func (r *operatorRecord) read() *Op {
	r.once.Do(func() { r.op = r.parse() })
	return r.op
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
	return slicesx.Map(slices.Sorted(maps.Keys(l.records)), func(name string) *Op { return l.records[name].read() }), nil
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
	return nil, fmt.Errorf("libtorch has no operator %s; names look like aten::add.Tensor; LoadLibrary loads a library "+
		"with further operators", name)
}

// recordOf returns the record of an operator, or nil. It does not list others: most workers and programs need few.
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

// list lists the operators again. Earlier Ops remain valid, unless a library, as one with a device, brought kernels.
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
