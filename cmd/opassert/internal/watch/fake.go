package watch

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
)

// The reasons why a fake was not compared with its kernel.
const (
	notCalled = "the fake was not called: the process was killed or left by os._exit, has no Python, " +
		"or a fake ended what calls them"
	unwritten = "calls whose arguments are not recorded, such as objects and tensors that are not plain, " +
		"or more kinds of calls than are recorded"
	uncompiled = "the op has no fake, and the program compiles nothing"

	uncompared = " not compared with those of the kernel for the CPU: "
	unkept     = "bytes" + uncompared + "storages of more than 64 KiB, contents that are not read, " +
		"or more than 64 MiB in all"
	undecided = "values" + uncompared + "they are random, or old contents of the memory, " +
		"or in a storage of more than 64 KiB"
	unasked = "values" + uncompared + "by -tolerance 0"
)

// fake judges a call of an op's fake, on arguments like those of a call of its kernel.
func (p *process) fake(data []byte) error {
	number, contexts, text := fakeHead(data)
	if len(contexts) == 0 {
		return errors.New("the watcher's record of a fake is cut short")
	}
	op := p.run.ops.numbered(number)
	if op == nil || op.faked == nil {
		return errors.New("the watcher's record of a fake has an unknown op")
	}
	call, rest, _ := strings.Cut(text, "\n")
	answer, place, _ := strings.Cut(rest, "\n")
	real, why := torch.ReadFake(op.faked, call)
	fake, unknown := torch.ReadFake(op.faked, answer)
	switch {
	case why != "":
		return errors.New(why)
	case unknown == "" && fake.Missing && fake.Beside == nil && !p.run.compiles():
		unknown = uncompiled
	}
	verdict := asserts.Verdict{Skips: []asserts.Skip{{Code: asserts.MetaAlias, Reason: unknown, Count: 1}}}
	switch {
	case unknown != "" && fake != nil && fake.Beside != nil:
		add(&verdict, p.run.compareBeside(op.faked, &real.Seen, fake.Beside))
	case unknown == "":
		verdict = p.run.compare(op.faked, &real.Seen, fake)
	}
	p.run.countFake(number, verdict.Skips)
	if len(verdict.Violations) == 0 {
		verdict = compare.Devices(op.faked, &real.Seen, fake, torch.Named(call), p.run.config.Policy)
	}
	for _, v := range verdict.Violations {
		if op.excuses(v, v.Device) {
			continue
		}
		site := []Frame{{File: p.layout.short(v.Site.File), Line: v.Site.Line}}
		if v.Site.File == "" { // not of a fake
			site, _ = p.layout.frames(place)
		}
		v.Site, v.Call = asserts.Site{}, real.Seen.Tensors(op.faked) // the site is the finding's
		for _, context := range contexts {
			p.run.findings.add(v, p, site, p.run.findings.at(p.pid, context))
		}
	}
	return nil
}

// fakeHead reads the number of an op and those of the contexts in which it was called; none if the data is truncated.
func fakeHead(data []byte) (op int64, contexts []int64, text string) {
	word := func(i int64) int64 { return int64(binary.NativeEndian.Uint64(data[8*i:])) }
	whole := int64(len(data) / 8)
	if whole < 2 || word(1) > whole-2 {
		return 0, nil, ""
	}
	for i := range word(1) {
		contexts = append(contexts, word(2+i))
	}
	return word(0), contexts, string(data[8*(2+len(contexts)):])
}

// compare judges a call by that of the op's fake, or without one of its kernel for
// the CPU. A missing fake is reported only for a program that compiles.
func (r *run) compare(op *asserts.Op, real *asserts.Seen, fake *compare.Fake) asserts.Verdict {
	var verdict asserts.Verdict
	if r.answering(fake) == fake {
		verdict = compare.Fakes(op, real, fake, r.config.Policy)
	}
	if fake.Beside != nil {
		add(&verdict, r.compareBeside(op, real, fake.Beside))
	}
	return verdict
}

// compareBeside judges a call by that of the op's kernel for the CPU.
func (r *run) compareBeside(op *asserts.Op, real *asserts.Seen, beside *compare.Fake) asserts.Verdict {
	twin := beside.Settled(real)
	verdict := compare.Twins(op, real, twin, cpu, r.config.Policy)
	add(&verdict, r.compareBytes(op, real, twin))
	return verdict
}

// answering returns the call of the fake, or, if it is missing and the program
// compiles nothing, that of the kernel for the CPU, or nil.
func (r *run) answering(fake *compare.Fake) *compare.Fake {
	if fake.Missing && !r.compiles() {
		return fake.Beside
	}
	return fake
}

// compareBytes judges the writes and the results of a call by the same call of the op's kernel for the CPU.
func (r *run) compareBytes(op *asserts.Op, real, twin *asserts.Seen) asserts.Verdict {
	skip := func(reason string, n int) asserts.Verdict {
		return asserts.Verdict{Skips: []asserts.Skip{{Code: asserts.MetaAlias, Reason: reason, Count: n}}}
	}
	for _, o := range real.Before {
		if o.Defined() && (o.Content == nil || o.Content.Bytes == nil) {
			return skip(unkept, 1)
		}
	}
	verdict := compare.Changes(op, real, twin, cpu, r.config.Policy)
	if r.config.Tolerance == 0 {
		add(&verdict, skip(unasked, 1))
		return verdict
	}
	add(&verdict, skip(undecided, len(compare.Unknown(op, real, twin))))
	add(&verdict, compare.Values(op, real, twin, cpu, r.config.Tolerance, r.config.Policy))
	return verdict
}

// add adds to a verdict another one's violations about other subjects, and its skips.
func add(to *asserts.Verdict, more asserts.Verdict) {
	reported := slices.Clone(to.Violations)
	for _, v := range more.Violations {
		same := func(w *asserts.Violation) bool {
			return w.Subject.Return == v.Subject.Return && w.Subject.Index == v.Subject.Index
		}
		if !slices.ContainsFunc(reported, same) {
			to.Violations = append(to.Violations, v)
		}
	}
	to.Skips = append(to.Skips, more.Skips...)
}

// cpu is the device whose kernel another device's is compared with.
const cpu = "cpu"

// countFake counts an answer of a fake, and the checks that could not be judged on it.
func (r *run) countFake(op int64, skips []asserts.Skip) {
	name := r.ops.numbered(op).name
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faked[op]++
	for _, s := range skips {
		r.skip(name, s.Code, s.Reason, s.Count)
	}
}

// compiles reports whether fakes have answered calls of the program.
func (r *run) compiles() bool {
	r.ops.mu.Lock()
	n := len(r.ops.all)
	r.ops.mu.Unlock()
	counts, err := readCounts(r.counts, n)
	return err == nil && //mutate:equivalent true: there are no counts then
		slices.ContainsFunc(counts, func(c countsOf) bool { return c.faked > 0 })
}
