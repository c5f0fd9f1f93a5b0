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
	Name  junitText   `xml:"name,attr"`
	Time  junitTime   `xml:"time,attr,omitempty"`
	Cases []junitCase `xml:"testcase"`
	junitCounts
	Skipped int `xml:"skipped,attr"`
}

// A junitText is text in the characters that XML allows.
type junitText string

func (t junitText) MarshalText() ([]byte, error) { return []byte(printable.Text(string(t))), nil }

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
	Class   junitText  `xml:"classname,attr"`
	Name    junitText  `xml:"name,attr"`
	Time    junitTime  `xml:"time,attr,omitempty"`
	Failure *junitNote `xml:"failure"`
	Error   *junitNote `xml:"error"`
	Skipped *junitNote `xml:"skipped"`
}

type junitNote struct {
	Message junitText `xml:"message,attr,omitempty"`
	Type    junitText `xml:"type,attr,omitempty"`
	Text    junitText `xml:",chardata"`
}

// WriteJUnit writes the results as JUnit XML, in the form of the schema that Jenkins publishes (jenkinsci/xunit-plugin,
// junit-10.xsd): a suite for each op, in order of appearance, and a test case for each result.
func WriteJUnit(w io.Writer, results []asserts.Result) error {
	all := junitSuites{Name: "opassert"}
	for _, r := range results {
		name := junitText(r.Op)
		if name == "" {
			name = "opassert"
		}
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

func junitOf(r asserts.Result, class junitText) junitCase {
	c := junitCase{Class: class, Name: junitText(keyOf(r)), Time: junitTime(r.Took)}
	switch r.Status {
	case asserts.Violated:
		c.Failure = &junitNote{Message: junitText(firstLine(r)), Type: junitText(r.Code.String()), Text: junitText(messageOf(r))}
	case asserts.Crashed, asserts.Failed:
		c.Error = &junitNote{Message: junitText(firstLine(r)), Type: junitText(r.Status), Text: junitText(messageOf(r))}
	case asserts.Noted:
		c.Skipped = &junitNote{Message: junitText("note: " + cmp.Or(r.First, r.Reason)), Text: junitText(messageOf(r))}
	case asserts.Known:
		c.Skipped = &junitNote{Message: "known: the baseline has it", Text: junitText(messageOf(r))}
	case asserts.Skipped:
		c.Skipped = &junitNote{Message: junitText(r.Reason)}
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
