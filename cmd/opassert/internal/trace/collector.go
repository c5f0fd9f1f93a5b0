package trace

import (
	"bytes"
	"encoding/json"
)

// A collected line is a JSON object in which a log collector stores a line: Docker
// and Fluentd ("log"), journald ("MESSAGE"), and those of clouds.
type collected struct {
	Log     journalText `json:"log"`
	Message journalText `json:"MESSAGE"` // and "message"
	Msg     journalText `json:"msg"`
	Line    journalText `json:"line"`
	Payload journalText `json:"textPayload"`
	PID     string      `json:"_PID"`
	Stream  string      `json:"stream"` // Docker's
}

// A journalText is a string, or an array of its bytes, as journald writes text with control
// characters.
type journalText []byte

func (t *journalText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = []byte(s)
		return nil
	}
	var numbers []byte
	if json.Unmarshal(b, &numbers) == nil { // otherwise the key has another meaning
		*t = numbers
	}
	return nil
}

// unwrapped returns the text in a collector's JSON object, the process that printed
// it if the object has it, and Docker's stream; nil if the line is not such an
// object.
func unwrapped(line []byte) (said, process []byte, stream string) {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) { //mutate:equivalent true: only saves time
		return nil, nil, ""
	}
	var c collected
	if json.Unmarshal(line, &c) != nil {
		return nil, nil, ""
	}
	for _, t := range []journalText{c.Log, c.Message, c.Msg, c.Line, c.Payload} {
		if t != nil {
			if c.PID != "" {
				process = []byte("pid=" + c.PID)
			}
			return t, process, c.Stream
		}
	}
	return nil, nil, ""
}

// parts are the parts of long lines, which container runtimes such as Docker's and
// Kubernetes' cut.
type parts struct {
	pending map[string][]byte // the parts so far, by stream
	ends    bool              // Docker's complete lines end with a newline
}

// join returns a line with the parts before it, nil if it is empty or another part follows.
func (p *parts) join(stream string, part []byte, last bool) []byte {
	before := p.pending[stream]
	if !last {
		p.pending[stream] = append(before, part[:min(len(part), maxLine-len(before))]...)
		return nil
	}
	delete(p.pending, stream)
	return append(before, part...)
}

// docker is join for the text of a Docker object.
func (p *parts) docker(stream string, said []byte) []byte {
	whole := bytes.HasSuffix(said, []byte("\n"))
	p.ends = p.ends || whole
	return p.join(stream, said, whole || !p.ends)
}

// kubernetes is join for a Kubernetes line: "2026-01-31T12:00:00Z stdout P text", with
// an F in the last part. Other lines are returned unchanged.
func (p *parts) kubernetes(line []byte) []byte {
	fields := bytes.SplitN(line, []byte(" "), 4)
	if len(fields) < 4 || string(fields[1]) != "stdout" && string(fields[1]) != "stderr" {
		return line
	}
	switch tag, _, _ := bytes.Cut(fields[2], []byte(":")); string(tag) {
	case "P", "F":
		return p.join(string(fields[1]), fields[3], tag[0] == 'F')
	}
	return line
}
