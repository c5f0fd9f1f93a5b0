package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"os"

	"github.com/opassert/opassert/cmd/opassert/internal/live"
	"github.com/opassert/opassert/internal/printable"
)

// An objectWatch watches the Python objects of a program, if requested, and may write a log.
type objectWatch struct {
	live *live.Watch
	log  *os.File
	text *bufio.Writer
}

func (r *runFlags) watchObjects(inv *invocation) (*objectWatch, error) {
	o := &objectWatch{}
	if !*r.preserve {
		return o, nil
	}
	config := live.Config{
		Lines: *r.lines, Fail: r.config.Fail,
		Found: func(f *live.ObjectFinding) { fmt.Fprintf(inv.stderr, "%s\n\n", f.Report()) },
	}
	if *r.log != "" {
		var err error
		if o.log, err = createPrivate(*r.log); err != nil {
			return nil, err
		}
		o.text = bufio.NewWriter(printable.NewWriter(o.log))
		config.Log = o.text
	}
	var err error
	o.live, err = live.Start(config)
	return o, err
}

// end is called when the program has ended.
func (o *objectWatch) end(inv *invocation) (*live.ObjectReport, error) {
	if o.live == nil {
		return &live.ObjectReport{}, nil
	}
	report := o.live.End()
	for _, l := range report.Left {
		printable.Printf(inv.stderr, "opassert: still runs, without libtorch: %s\n", l)
	}
	for _, t := range report.Unwatched {
		printable.Printf(inv.stderr, "opassert: %s\n", t)
	}
	fmt.Fprintln(inv.stderr, "opassert:", report.Summary())
	if o.log == nil {
		return report, nil
	}
	return report, cmp.Or(o.text.Flush(), o.log.Close())
}
