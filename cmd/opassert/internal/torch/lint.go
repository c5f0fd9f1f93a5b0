package torch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/locked"
	"github.com/opassert/opassert/schema"
)

// A LintRow is a fault of a schema or a registration, in the form of lint -json: a row of check's and its place.
type LintRow struct {
	asserts.Result
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // 0 for a registration
	Message string `json:"message"`
}

// NewLintRow makes the row of a fault of an op at a place.
func NewLintRow(op string, f asserts.Fault, column int) LintRow {
	row := asserts.JudgeFaults(&asserts.Op{Name: op}, &asserts.Seen{}, []asserts.Fault{f}).Violations[0].Result()
	row.Subject, row.Report = "", "" // no call shows it
	at := f.Site.String()
	if column > 0 {
		at += fmt.Sprintf(":%d", column)
	}
	if row.Status == asserts.Noted {
		at += ": note"
	}
	row.Text = strings.TrimSuffix(fmt.Sprintf("%s: %s %s: %s; %s", at, row.Symptom, op, f.Saw, f.Fix), "; ")
	return LintRow{row, f.Site.File, f.Site.Line, column, f.Saw}
}

// Registrations are what modules register, and the faults of that.
type Registrations struct {
	Found  []LintRow
	Ops    int
	Looked map[string]int // how many functions were compared with schemas, by "kernel", "fake", "formula", "rule"
}

// LintModules imports modules in a Python interpreter. The modules' output goes to talk.
func LintModules(python *installed.Python, modules []string, talk io.Writer) (*Registrations, error) {
	folder, err := locked.NewFolder(os.TempDir(), "opassert-lint-")
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	answer := filepath.Join(folder.Path, "answer")
	var said strings.Builder
	program, err := hostProgram("signatures", "main()")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python.Path, "-c", program)
	cmd.Env = append(os.Environ(), "OPASSERT_MODULES="+strings.Join(modules, ","), "OPASSERT_ANSWER="+answer)
	cmd.Stdout, cmd.Stderr = talk, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", python.Path, err, strings.TrimSpace(said.String()))
	}
	text, err := os.ReadFile(answer)
	var reply struct {
		Found []struct {
			ruleFault
			Op string
		}
		Looked map[string]int
		Ops    []struct {
			Op, Schema, File string
			Line             int
		}
	}
	if err = errors.Join(err, json.Unmarshal(text, &reply)); err != nil {
		return nil, err
	}
	found := []LintRow{}
	for _, f := range reply.Found {
		f.Site = asserts.Site{File: f.File, Line: f.Line}
		found = append(found, NewLintRow(f.Op, f.Fault, 0))
	}
	for _, op := range reply.Ops {
		parsed, err := schema.ParseDispatcher(op.Schema)
		if err != nil {
			continue // in a type that only the dispatcher knows
		}
		for _, f := range schema.LintOp(parsed) {
			at := asserts.Site{File: op.File, Line: op.Line}
			fault := asserts.Fault{Code: asserts.SchemaLint, Saw: f.Message, Fix: f.Fix, Site: at}
			found = append(found, NewLintRow(op.Op, fault, 0))
		}
	}
	return &Registrations{found, len(reply.Ops), reply.Looked}, nil
}
