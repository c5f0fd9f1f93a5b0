package trace

import (
	"bytes"
	"encoding/json"
)

// A collected line is a JSON object in which a collector of logs keeps a line:
// Docker and Fluentd ("log"), journald ("MESSAGE"), and those of clouds.
type collected struct {
	Log     text   `json:"log"`
	Message text   `json:"MESSAGE"` // and "message"
	Msg     text   `json:"msg"`
	Line    text   `json:"line"`
	Payload text   `json:"textPayload"`
	PID     string `json:"_PID"`
}

// A text is a string, or as journald writes what has control characters, the
// numbers of its bytes.
type text []byte

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = []byte(s)
		return nil
	}
	var numbers []uint8
	var all []int
	if json.Unmarshal(b, &all) != nil {
		return nil // something else has that name
	}
	for _, n := range all {
		numbers = append(numbers, uint8(n))
	}
	*t = numbers
	return nil
}

// unwrapped returns the lines that a collector wrote as one JSON object, and the
// process that printed them if it says so; nil if the line is not such an object.
func unwrapped(line []byte) (lines [][]byte, process []byte) {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("{")) || !bytes.HasSuffix(line, []byte("}")) {
		return nil, nil
	}
	var c collected
	if json.Unmarshal(line, &c) != nil {
		return nil, nil
	}
	for _, t := range []text{c.Log, c.Message, c.Msg, c.Line, c.Payload} {
		if t != nil {
			if c.PID != "" {
				process = []byte("pid=" + c.PID)
			}
			return bytes.Split(bytes.TrimRight(t, "\r\n"), []byte("\n")), process
		}
	}
	return nil, nil
}
