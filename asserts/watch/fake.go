package watch

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch/engine"
)

// Why a fake was not held against its kernel.
const (
	notCalled  = "the fake was not called: the process was killed or left by os._exit, has no Python, or a fake ended what calls them"
	unwritten  = "calls whose arguments fakes are not called on, such as objects and tensors that are not plain, or of more kinds than are kept"
	uncompiled = "the op has no fake, and the program compiles nothing"
)

// fake judges a call of an op's fake, on arguments like those of a call of its kernel.
func (p *process) fake(data []byte) error {
	if len(data) < 16 {
		return errors.New("the watcher's record of a fake is cut short")
	}
	number := int64(binary.NativeEndian.Uint64(data))
	op := p.run.ops.numbered(number)
	if op == nil || op.faked == nil {
		return errors.New("the watcher's record of a fake is of no op that it has named")
	}
	at := p.run.findings.at(p.pid, int64(binary.NativeEndian.Uint64(data[8:])))
	call, answer, _ := strings.Cut(string(data[16:]), "\n")
	real, why := engine.ReadFake(op.faked, call)
	fake, unknown := engine.ReadFake(op.faked, answer)
	switch {
	case why != "":
		return errors.New(why)
	case unknown == "" && fake.Missing && !p.run.compiles():
		unknown = uncompiled
	}
	if unknown != "" {
		p.run.countFake(number, []asserts.Skip{{Code: asserts.MetaAlias, Reason: unknown, Count: 1}})
		return nil
	}
	verdict := asserts.JudgeFake(op.faked, &real.Seen, fake, p.run.config.Policy)
	p.run.countFake(number, verdict.Skips)
	for _, v := range verdict.Violations {
		if op.waived.Has(v.Code) {
			continue
		}
		site := []Frame{{File: p.layout.short(v.Site.File), Line: v.Site.Line}}
		v.Site = asserts.Site{} // the finding's
		p.run.findings.add(v, p, site, at)
	}
	return nil
}

// countFake counts an answer of a fake, and what is not judged of it.
func (r *run) countFake(op int64, skips []asserts.Skip) {
	name := r.ops.numbered(op).name
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faked[op]++
	for _, s := range skips {
		r.skip(name, s.Code, s.Reason, s.Count)
	}
}

// compiles reports whether fakes have answered calls of the program's.
func (r *run) compiles() bool {
	r.ops.mu.Lock()
	n := len(r.ops.all)
	r.ops.mu.Unlock()
	counts, err := readCounts(r.counts, n)
	for _, c := range counts {
		if err == nil && c.faked > 0 {
			return true
		}
	}
	return false
}
