package trace

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
)

// Read follows the log of a version of PyTorch in a file, as [NewReader] does; "-" is standard input. It is an error if
// the file can't be read, has no line of a log, or if most of those lines are unknown.
func Read(name, torch string, ended func(Life)) (LogReport, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return LogReport{}, err
		}
		defer f.Close()
		in = f
	}
	r := NewReader(torch, ended)
	if _, err := io.CopyBuffer(r, struct{ io.Reader }{in}, make([]byte, 256<<10)); err != nil {
		return LogReport{}, fmt.Errorf("%s: %w", name, err)
	}
	report := r.Close()
	bad := func(line int64, format string, args ...any) (LogReport, error) {
		return report, scanner.ErrorList{{
			Pos: token.Position{Filename: name, Line: int(line), Column: 1},
			Msg: fmt.Sprintf(format, args...),
		}}
	}
	switch {
	case report.Records == 0:
		return bad(1, "none of the %d lines is one of the log, [file.cpp:LINE] (subject) message; give the output of a PyTorch that prints them", report.Lines)
	case report.Unknown*2 > report.Records && len(report.Violations) == 0:
		return bad(report.Samples[0].Line,
			"%d of the log's %d lines are unknown, from this one on: %q; they are from another patch than those that print the storages' objects",
			report.Unknown, report.Records, report.Samples[0].Text)
	}
	return report, nil
}
