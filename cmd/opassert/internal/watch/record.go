package watch

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/report"
)

// records are calls of an op as cases of [suite.ParseRecipes], by the hash that record.cpp computes.
type records map[uint64]string

// record keeps a call if it is among those with the lowest hashes.
func (r *run) record(data []byte) error {
	var call recorded
	text, ok := call.read(data)
	if !ok {
		return errors.New("the watcher's record of a call is cut short")
	}
	op := r.ops.numbered(call.op)
	if op == nil {
		return errors.New("the watcher recorded a call of an unknown op")
	}
	var args []string
	fields := strings.Split(string(text), "\x1f")
	for i := 0; i+1 < len(fields); i += 2 {
		if !r.config.Strings && strings.Contains(fields[i+1], "'") { // which only begins a string
			continue
		}
		args = append(args, fields[i]+": "+strconv.Quote(fields[i+1]))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records[op.name] == nil {
		r.records[op.name] = make(records)
	}
	calls := r.records[op.name]
	calls[uint64(call.call)] = "{" + strings.Join(args, ", ") + "}"
	if len(calls) > r.config.Record {
		delete(calls, slices.Max(slices.Collect(maps.Keys(calls))))
	}
	return nil
}

// WriteCases writes the recorded calls as a file of cases. check makes omitted arguments from the schema.
func (r *OpReport) WriteCases(w io.Writer) error {
	const about = "# Distinct calls that a program made; use them with opassert check -cases.\n"
	if _, err := io.WriteString(w, about); err != nil {
		return err
	}
	return report.WriteCases(w, r.Recorded())
}

// Recorded returns the recorded calls as cases, by op.
func (r *OpReport) Recorded() map[string][]string {
	calls := make(map[string][]string)
	for op, all := range r.records {
		calls[op] = slices.Compact(slices.Sorted(maps.Values(all)))
	}
	return calls
}
