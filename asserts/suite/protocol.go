package suite

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"fmt"
	"strconv"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// WorkerVariable, if set in a process's environment, makes it a worker, with this folder: some kernels write there.
const WorkerVariable = "OPASSERT_WORKER"

// The numbers of a worker's files. Requests are on its standard input; standard output is for kernels that print.
const (
	replyFile = 3 // for replies
	keyFile   = 4 // the key at the beginning of its lines, which it reads once
)

// Messages are lines. A worker that has started writes "ready PID", with the process in which its kernels run. A
// request is JSON; the answer is "start N COST" before each case, "end JSON" after it, and "done". The facts that
// earlier openings would show are set as if these had run, except those to skip.
const (
	lineReady   = "ready"
	lineLoad    = "load" // "load LIBRARY", before it is ready
	lineStart   = "start"
	lineCall    = "call"   // "call CASE" before each call and "call " after it, if the request asks for it
	lineDevice  = "device" // "device cpu" before the op is called there, if the request asks for it
	lineTwin    = "twin"   // "twin meta", the same for a call with twins
	lineFrame   = "frame"  // "frame TEXT", innermost first, from a worker that crashes
	lineShown   = "shown"  // "shown JSON": the findings of a case, during the search for a smaller call
	lineEnd     = "end"
	lineLearned = "learned" // "learned JSON": the facts from which the design of the op is made
	lineApart   = "apart"   // "apart CALLS": those to repeat in another process, or those that this one made
	lineDone    = "done"
	lineList    = "list"    // "list LISTING", the answer to a request for the ops
	lineFault   = "fault"   // a panic of opassert itself, quoted
	lineLibrary = "library" // a failure of the library, quoted
	lineLost    = "lost"    // the device of the tensors no longer works, with the reason, quoted
	lineDied    = "died"    // from the watcher of the worker: "died STATUS"
)

// A request is for some cases of an op, or for the list of ops.
type request struct {
	// Worker is the process that is to answer, as it greeted the run. One that was killed may leave
	// a request, or the rest of one, to that which replaces it and is sent another.
	Worker int `json:"worker"`

	List bool   `json:"list,omitempty"`
	Op   string `json:"op"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Show bool   `json:"show,omitempty"` // report each call before it is made
	Case string `json:"case,omitempty"` // make only this call, unchanged
	Skip []int  `json:"skip,omitempty"` // earlier cases that end a worker

	Apart string `json:"apart,omitempty"` // make these calls instead

	Without []engine.Device `json:"without,omitempty"` // make no calls there

	// AsItIs reports that no smaller calls are searched for, as one ended a worker.
	AsItIs bool `json:"asItIs,omitempty"`

	// Learned are the facts that an earlier worker learned, and Origins those of its cases since, which need not rerun.
	Learned string                `json:"learned,omitempty"`
	Origins map[int]report.Origin `json:"origins,omitempty"`
}

// lineForeign precedes a line without a key: "foreign TEXT".
const lineForeign = "foreign"

// loadMark is written by a worker before it loads a library.
const loadMark = "\x1e"

func foreign(text string) error {
	return fmt.Errorf("a worker answered %q: the kernel may have written to file %d, which belongs to the worker",
		text, replyFile)
}

// ownFault returns the error for a panic of opassert itself, as written by a worker.
func ownFault(quoted string) error {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		text = quoted
	}
	return errors.New(text)
}

// encode writes a value as one word. Its numbers may be any, including NaN.
func encode(v any) (string, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func decode[T any](text string) (*T, error) {
	v := new(T)
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	return v, gob.NewDecoder(bytes.NewReader(b)).Decode(v)
}
