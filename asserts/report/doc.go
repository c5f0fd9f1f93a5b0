// Package report holds the results of a run, op by op, and writes them: as text,
// JSON, JUnit XML, SARIF, HTML and baselines.
package report
