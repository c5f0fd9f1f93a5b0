package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/opassert/opassert/asserts/preserve/live"
)

// runPreserve watches the Python objects of a program.
func (inv *invocation) runPreserve(flags *runFlags) error {
	config := live.Config{
		Command: inv.flags.Args(), Stdin: os.Stdin, Stdout: inv.stdout, Stderr: inv.stderr,
		Lines: *flags.lines, Fail: *flags.fail,
		Found: func(f *live.Finding) { fmt.Fprintf(inv.stderr, "%s\n\n", f.Report()) },
	}
	finish := func() error { return nil }
	if *flags.log != "" {
		file, err := os.Create(*flags.log)
		if err != nil {
			return err
		}
		defer file.Close()
		b := bufio.NewWriter(file)
		config.Log, finish = b, b.Flush
	}
	report, err := live.Run(context.Background(), config)
	if err != nil {
		return err
	}
	if err := finish(); err != nil {
		return err
	}
	for _, t := range report.Troubles {
		fmt.Fprintln(inv.stderr, "opassert:", t)
	}
	fmt.Fprintln(inv.stderr, "opassert:", report.Summary())
	if err := toFile(*flags.json, func(w io.Writer) error { return json.NewEncoder(w).Encode(report.JSON()) }); err != nil {
		return err
	}
	return exitStatus(report.ExitStatus())
}
