package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

// results returns results of every status.
func results(t *testing.T) (all []asserts.Result) {
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/results.json"))(t), &all))
	return all
}

func TestWriters(t *testing.T) {
	writers := []struct {
		file  string
		write func(io.Writer, []asserts.Result) error
	}{
		{"results.xml", report.WriteJUnit},
		{"results.sarif", func(w io.Writer, rs []asserts.Result) error { return report.WriteSARIF(w, "v1.2.3", "/src", rs) }},
	}
	for _, test := range writers {
		t.Run(test.file, func(t *testing.T) {
			var b bytes.Buffer
			must.Do(t, test.write(&b, results(t)))
			if text := b.String(); test.file != "results.sarif" {
				golden.Compare(t, test.file, text)
			} else {
				golden.Compare(t, test.file, citedRules(t, text))
			}
			if err := test.write(io.Discard, nil); err != nil {
				t.Errorf("no results: %v", err)
			}
			all := results(t)
			for room := b.Len() - 1; room >= 0; room -= 199 {
				if err := test.write(&fullDisk{room}, all); err == nil {
					t.Errorf("an error after %d bytes is lost", room)
				}
			}
		})
	}
}

// citedRules returns a SARIF log without the rules that no result violates. Each check has a rule,
// and a result has its rule's index.
func citedRules(t *testing.T, text string) string {
	t.Helper()
	var log map[string]any
	must.Do(t, json.Unmarshal([]byte(text), &log))
	run := log["runs"].([]any)[0].(map[string]any)
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	all := driver["rules"].([]any)
	if got, want := len(all), 1+len(slices.Collect(asserts.AllCodes.All())); got != want {
		t.Errorf("%d rules, want %d", got, want)
	}
	cited := make(map[string]any)
	for _, r := range run["results"].([]any) {
		result := r.(map[string]any)
		rule := all[int(result["ruleIndex"].(float64))].(map[string]any)
		if rule["id"] != result["ruleId"] {
			t.Errorf("a result of %v has the index of %v", result["ruleId"], rule["id"])
		}
		cited[rule["id"].(string)] = rule
	}
	driver["rules"] = cited
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must.Do(t, enc.Encode(log))
	return b.String()
}

// A result has its reason as name, if it has one.
func TestResultWithoutReason(t *testing.T) {
	for reason, want := range map[string]string{"": `name="failed  aten::sin"`, "boom\nat x": `name="failed  aten::sin: boom"`} {
		var b strings.Builder
		must.Do(t, report.WriteJUnit(&b, []asserts.Result{{Op: "aten::sin", Status: asserts.Failed, Reason: reason}}))
		if !strings.Contains(b.String(), want) {
			t.Errorf("reason %q: no %s in %s", reason, want, b.String())
		}
	}
}

// A fullDisk has room for a number of bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return d.room, io.ErrShortWrite
	}
	d.room -= len(p)
	return len(p), nil
}

func TestSARIFPlaces(t *testing.T) {
	for _, test := range []struct{ root, file, want string }{
		{"/src", "/src/a/b.go", "a/b.go %SRCROOT%"},
		{"/src", "/src/a b.go", "a%20b.go %SRCROOT%"},
		{"/src", "/other/b.go", "file:///other/b.go "},
		{"", "/src/b.go", "file:///src/b.go "},
		{"/src", "layers/b.go", "layers/b.go %SRCROOT%"},
	} {
		var b bytes.Buffer
		report.WriteSARIF(&b, "", test.root, []asserts.Result{{Status: asserts.Violated, Site: asserts.Site{File: test.file, Line: 3}}})
		var log struct {
			Runs []struct {
				Results []struct {
					Locations []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI, URIBaseID string }
						}
					}
				}
			}
		}
		must.Do(t, json.Unmarshal(b.Bytes(), &log))
		if len(log.Runs[0].Results[0].Locations) != 1 {
			t.Fatalf("%+v has no place", test)
		}
		if at := log.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation; at.URI+" "+at.URIBaseID != test.want {
			t.Errorf("%s under %q is %+v, want %s", test.file, test.root, at, test.want)
		}
	}
}

// The attributes agree with the elements.
func TestJUnitCounts(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, report.WriteJUnit(&b, results(t)))
	type counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	var doc struct {
		XMLName xml.Name `xml:"testsuites"`
		counts
		Suites []struct {
			Name string `xml:"name,attr"`
			counts
			Cases []struct {
				Class   string    `xml:"classname,attr"`
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	must.Do(t, xml.Unmarshal(b.Bytes(), &doc))
	var total counts
	for _, s := range doc.Suites {
		var got counts
		for _, c := range s.Cases {
			if c.Class != s.Name || c.Name == "" {
				t.Errorf("case %q of class %q in suite %q", c.Name, c.Class, s.Name)
			}
			got.Tests++
			switch {
			case c.Failure != nil:
				got.Failures++
			case c.Error != nil:
				got.Errors++
			case c.Skipped != nil:
				got.Skipped++
			}
		}
		if got != s.counts {
			t.Errorf("suite %s says %+v and has %+v", s.Name, s.counts, got)
		}
		total.Tests += got.Tests
		total.Failures += got.Failures
		total.Errors += got.Errors
		total.Skipped += got.Skipped
	}
	want := counts{Tests: 8, Failures: 1, Errors: 2, Skipped: 4}
	if total != want {
		t.Errorf("%+v, want %+v", total, want)
	}
	if want.Skipped = 0; doc.counts != want { // the schema has no such attribute here
		t.Errorf("says %+v, want %+v", doc.counts, want)
	}
}

// junitSchema has the attributes of each element in the schema that Jenkins publishes, junit-10.xsd
// of jenkinsci/xunit-plugin, and "parent/" for each possible parent.
var junitSchema = map[string]string{
	"testsuites": "/ name time tests failures errors disabled",
	"testsuite":  "testsuites/ name tests failures errors group time skipped timestamp hostname id package file log url version",
	"testcase":   "testsuite/ name assertions time classname status group",
	"failure":    "testcase/ type message",
	"error":      "testcase/ type message",
	"skipped":    "testcase/ type message",
}

func TestJUnitShape(t *testing.T) {
	timed := results(t)
	timed[0].Took = 1500 * time.Millisecond
	var b bytes.Buffer
	must.Do(t, report.WriteJUnit(&b, timed))
	if want := `<testsuite name="` + timed[0].Op + `" time="1.500"`; !strings.Contains(b.String(), want) {
		t.Errorf("%s is not in\n%s", want, b.String())
	}
	parents := []string{""}
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			parents = parents[:len(parents)-1]
		case xml.StartElement:
			allowed := strings.Fields(junitSchema[e.Name.Local])
			if !slices.Contains(allowed, parents[len(parents)-1]+"/") {
				t.Errorf("%s stands in %s", e.Name.Local, parents[len(parents)-1])
			}
			for _, a := range e.Attr {
				if !slices.Contains(allowed, a.Name.Local) {
					t.Errorf("%s has an attribute %s", e.Name.Local, a.Name.Local)
				}
			}
			parents = append(parents, e.Name.Local)
		}
	}
}

// The log has the form that SARIF 2.1.0 requires.
func TestSARIFShape(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, report.WriteSARIF(&b, "v1.2.3", "/src", results(t)))
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Kind      string
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation *struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	must.Do(t, json.Unmarshal(b.Bytes(), &log))
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "opassert" {
		t.Fatalf("not a log of one run by opassert: %+v", log)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	if want := 1 + len(slices.Collect(asserts.AllCodes.All())); len(rules) != want {
		t.Errorf("%d rules, want %d", len(rules), want)
	}
	prints := make(map[string]bool)
	for _, r := range log.Runs[0].Results {
		if rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule %d is %s, not %s", r.RuleIndex, rules[r.RuleIndex].ID, r.RuleID)
		}
		if r.Message.Text == "" {
			t.Errorf("%s has no message", r.RuleID)
		}
		if (r.Kind == "fail") == (r.Level == "none") {
			t.Errorf("%s is of kind %q and level %q", r.RuleID, r.Kind, r.Level)
		}
		for _, l := range r.Locations {
			if p := l.PhysicalLocation; p != nil && (p.ArtifactLocation.URI != "model/block.go" || p.Region.StartLine != 42) {
				t.Errorf("%s is at %+v", r.RuleID, *p)
			}
		}
		if print := r.PartialFingerprints["opassert/v2"]; print == "" || prints[print] {
			t.Errorf("%s: fingerprint %q is empty or not its own", r.RuleID, print)
		} else {
			prints[print] = true
		}
	}
	if len(prints) != 8 {
		t.Errorf("%d results, want 8", len(prints))
	}
}

// What a result does not have is left out.
func TestSARIFOfLittle(t *testing.T) {
	var b strings.Builder
	must.Do(t, report.WriteSARIF(&b, "", "/src", []asserts.Result{{Status: asserts.Skipped}}))
	for _, name := range []string{`"version": ""`, "occurrenceCount", "locations", "attachments"} {
		if strings.Contains(b.String(), name) {
			t.Errorf("%s is in %s", name, b.String())
		}
	}
}

// A finding known before is unchanged in SARIF's terms.
func TestSARIFOfKnown(t *testing.T) {
	for status, want := range map[asserts.Status]bool{asserts.Known: true, asserts.Violated: false} {
		var b strings.Builder
		result := asserts.Result{Op: "aten::add", Code: asserts.FreshImpl, Status: status}
		must.Do(t, report.WriteSARIF(&b, "v1.2.3", "/src", []asserts.Result{result}))
		if got := strings.Contains(b.String(), `"baselineState": "unchanged"`); got != want {
			t.Errorf("%v: unchanged %t, want %t", status, got, want)
		}
	}
}
