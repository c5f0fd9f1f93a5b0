// Package report holds the results of a run, op by op, and writes them: as text,
// JSON, HTML, tables, baselines, and as the differences between runs.
package report
