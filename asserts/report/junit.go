package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

type junitSuites struct {
	XMLName xml.Name      `xml:"testsuites"`
	Name    string        `xml:"name,attr"`
	Time    junitTime     `xml:"time,attr,omitempty"`
	Suites  []*junitSuite `xml:"testsuite"`
	junitCounts
}

type junitSuite struct {
	Name  string      `xml:"name,attr"`
	Time  junitTime   `xml:"time,attr,omitempty"`
	Cases []junitCase `xml:"testcase"`
	junitCounts
	Skipped int `xml:"skipped,attr"`
}

// A junitTime is written in seconds.
type junitTime time.Duration

func (t junitTime) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(t).Seconds()), nil
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    junitTime  `xml:"time,attr,omitempty"`
	Failure *junitNote `xml:"failure"`
	Error   *junitNote `xml:"error"`
	Skipped *junitNote `xml:"skipped"`
}

type junitNote struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// noted returns a note with the characters that XML allows.
func noted(message, kind, text string) *junitNote {
	return &junitNote{printable.Text(message), printable.Text(kind), printable.Text(text)}
}

// WriteJUnit writes the results as JUnit XML, in the form of the schema that Jenkins publishes (jenkinsci/xunit-plugin,
// junit-10.xsd): a suite for each op, in order of appearance, and a test case for each result.
func WriteJUnit(w io.Writer, results []asserts.Result) error {
	all := junitSuites{Name: "opassert"}
	for _, r := range results {
		name := cmp.Or(printable.Text(r.Op), "opassert")
		i := slices.IndexFunc(all.Suites, func(s *junitSuite) bool { return s.Name == name })
		if i < 0 {
			i = len(all.Suites)
			all.Suites = append(all.Suites, &junitSuite{Name: name})
		}
		c := junitOf(r, name)
		all.Suites[i].Cases = append(all.Suites[i].Cases, c)
		all.Suites[i].count(c)
		all.Suites[i].Time += c.Time
		all.Time += c.Time
		all.count(c)
		if c.Skipped != nil {
			all.Suites[i].Skipped++
		}
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil { //mutate:equivalent false: it cannot fail
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func junitOf(r asserts.Result, class string) junitCase {
	c := junitCase{Class: class, Name: printable.Text(keyOf(r)), Time: junitTime(r.Took)}
	switch r.Status {
	case asserts.Violated:
		c.Failure = noted(firstLine(r, titleOf(r)), r.Code.String(), messageOf(r))
	case asserts.Crashed, asserts.Failed:
		c.Error = noted(firstLine(r, titleOf(r)), string(r.Status), messageOf(r))
	case asserts.Noted:
		c.Skipped = noted("note: "+firstLine(r, r.Reason), "", messageOf(r))
	case asserts.Known:
		c.Skipped = noted("known: the baseline has it", "", messageOf(r))
	case asserts.Skipped:
		c.Skipped = noted(r.Reason, "", "")
	}
	return c
}

func (n *junitCounts) count(c junitCase) {
	n.Tests++
	switch {
	case c.Failure != nil:
		n.Failures++
	case c.Error != nil:
		n.Errors++
	}
}
