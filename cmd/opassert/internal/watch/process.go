package watch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
)

// A process is a connection from a process of the watched program.
type process struct {
	run     *run
	pid     int
	rank    string
	version string // of libtorch
	layout  pythonFolders
	pending map[int64][]*asserts.Violation // of calls whose site was requested
	next    int64
}

func (p *process) answer(f preload.Message) ([]byte, error) {
	reply, err := p.reply(f)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", p.pid, err)
	}
	return reply, nil
}

func (p *process) reply(f preload.Message) ([]byte, error) {
	switch f.Kind {
	case frameHello:
		return p.hello(string(f.Data))
	case frameOp:
		_, about, err := p.run.ops.meet(p.version, string(f.Data))
		return about, err
	case frameNames:
		p.run.registered(strings.Fields(string(f.Data)))
		return nil, nil
	case frameCall:
		return p.call(f.Data)
	case frameSite:
		return p.site(string(f.Data))
	case frameOrigin:
		line, frames, _ := strings.Cut(string(f.Data), "\n")
		p.run.origins.found(line, p.layout.originFrames(frames))
		return nil, nil
	case frameSince:
		return p.run.findings.findingsSince(string(f.Data))
	case frameRecord:
		return nil, p.run.record(f.Data)
	case frameFakes:
		return torch.FakesProgram()
	case frameFake:
		return nil, p.fake(f.Data)
	case frameBackward:
		return p.backward(f.Data)
	case frameNotWatched:
		p.run.object.NotWatched(fmt.Sprintf("process %d: %s", p.pid, f.Data))
		return nil, nil
	}
	return nil, fmt.Errorf("the watcher sent a frame of kind %q", f.Kind)
}

func (p *process) hello(text string) ([]byte, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 6 {
		return nil, errors.New("the watcher's greeting is cut short")
	}
	var err error
	if p.pid, err = strconv.Atoi(lines[0]); err != nil {
		return nil, err
	}
	p.rank, p.version = lines[2], lines[3]
	p.layout = p.run.layout(lines[4])
	threads, _ := strconv.Atoi(lines[5]) // a forked process sends none: it has one thread, which is watched
	p.run.met(p, max(0, threads-1))
	c := p.run.config
	maxBytes := cmp.Or(max(0, c.MaxBytes), math.MaxInt64)
	answer := settings{int64(c.Content), int64(max(1, c.Sample)), maxBytes, int64(c.Record), int64(c.Fakes)}
	sources := append([]string{" " + strings.Join(torch.Own, " ") + " "}, torch.OwnSources...)
	if p.layout.torch != "" {
		sources = append(sources, p.layout.torch+"/")
	}
	return append(words(answer.words()...), strings.Join(sources, "\n")...), nil
}

// call judges a call that does not look usual. The answer is a number if there are violations, and "collect" if the
// tensors are to be observed again, after Python's collector has run.
func (p *process) call(data []byte) ([]byte, error) {
	var a asked
	rest, ok := a.read(data)
	if !ok {
		return nil, errors.New("the watcher's record of a call is cut short")
	}
	op := p.run.ops.numbered(a.op)
	if op == nil || a.texts < 0 || a.texts > int64(len(rest))/8*8 {
		return nil, errors.New("the watcher's record of a call has an unknown op")
	}
	texts := strings.Split(string(rest[:a.texts]), "\x00")
	if len(texts) != 5 {
		return nil, errors.New("the watcher's record of a call has other texts")
	}
	libtorch.Bring(texts[1])
	seen, err := op.listed.ReadSeen(asserts.Level(a.level), rest[(a.texts+7)/8*8:])
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(texts[0]) {
		seen.Modes = append(seen.Modes, mode(strings.TrimSpace(line)))
	}
	is := func(circumstance int64) bool { return a.circumstances&circumstance != 0 }
	seen.Alone = is(circumstanceAlone)
	seen.Number()
	around := surroundings{
		concurrent: is(circumstanceConcurrent), below: is(circumstanceBelow), threw: is(circumstanceThrew),
		moved: is(circumstanceMoved), collects: is(circumstanceCollects), collected: is(circumstanceCollected),
		device:  texts[2],
		pending: slices.ContainsFunc(seen.Results, having(asserts.Pending)),
	}
	broken, count := p.run.judge(op, &seen, around)
	broken, collects := p.run.collect(op, broken, around)
	if collects {
		return []byte("collect"), nil
	}
	count()
	numbers := strings.FieldsFunc(texts[3], func(r rune) bool { return r == '\x1f' })
	for _, v := range broken {
		v.Call = seen.Tensors(op.judged, numbers...)
	}
	if len(broken) == 0 {
		return nil, nil
	}
	p.next++
	p.pending[p.next] = broken
	return []byte(strconv.FormatInt(p.next, 10)), nil
}

// site records the place of a call that broke rules, and returns the message to raise.
func (p *process) site(text string) ([]byte, error) {
	parts := strings.SplitN(text, "\n", 3)
	if len(parts) < 3 || parts[2] == "" {
		return nil, errors.New("the watcher's site is cut short")
	}
	number, err := strconv.ParseInt(parts[0], 10, 64)
	broken, ok := p.pending[number]
	if err != nil || !ok {
		return nil, errors.New("the watcher's site has an unknown call")
	}
	delete(p.pending, number)
	answeredBy(p.layout.answer(parts[1]), broken)
	return p.add(broken, parts[2])
}

// add records the violations of a call at a place, and returns the exception that the watcher has to raise.
func (p *process) add(broken []*asserts.Violation, place string) ([]byte, error) {
	at := p.run.findings.at(p.pid, 0)
	add := func(site []Frame) []byte {
		var reports []string
		for _, v := range broken {
			if f := p.run.findings.add(v, p, site, at); p.run.config.Fail && f.fails(p.run.config.Strict) {
				reports = append(reports, f.Report())
			}
		}
		return []byte(strings.Join(reports, "\n\n"))
	}
	site, generated := p.layout.frames(place)
	if generated == "" || p.run.config.Fail {
		return add(site), nil
	}
	if p.run.origins.wait(generated, func(origin []Frame) { add(calledFrom(site, origin)) }) {
		return []byte("?" + generated), nil
	}
	return nil, nil
}
