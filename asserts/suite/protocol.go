package suite

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"fmt"
	"strconv"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
)

// WorkerVariable, when it is set in a process's environment, makes it a worker.
// It names the folder that the worker goes to: there are kernels that write
// files where they are.
const WorkerVariable = "OPASSERT_WORKER"

// The numbers of a worker's files. Its standard input has the requests; its
// standard output is left to kernels that print.
const (
	replyFile = 3 // it answers on this one
	keyFile   = 4 // the key that its lines begin with, which it reads once
)

// The conversation with a worker is in lines. It says "ready PID" when it has
// started, of the process that its kernels run in. A request is JSON; the answer is "start N COST" before each case, "end
// JSON" after it, and "done". The openings before those asked for are made
// ready as if they had run, except those to skip.
const (
	lineReady   = "ready"
	lineLoad    = "load" // "load LIBRARY", before it is ready
	lineStart   = "start"
	lineCall    = "call"   // "call CASE" before each call and "call " after it, where the request wants that
	lineDevice  = "device" // "device cpu", where the op is called there next, where the request wants that
	lineTwin    = "twin"   // "twin meta", the same where it is called with twins
	lineFrame   = "frame"  // "frame TEXT", innermost first, from a worker that crashes
	lineShown   = "shown"  // "shown JSON": the findings of a case, while a smaller call is looked for
	lineEnd     = "end"
	lineLearned = "learned" // "learned JSON": the facts that the design of the op is made from
	lineDone    = "done"
	lineList    = "list"    // "list LISTING", the answer to a request for the ops
	lineFault   = "fault"   // a panic of opassert's own, quoted
	lineLibrary = "library" // a failure of the library, quoted
	lineLost    = "lost"    // the device of the tensors does not work any more, why quoted
	lineDied    = "died"    // from the watcher of the worker: "died STATUS"
)

// A request is for some cases of an op, or for the list of ops.
type request struct {
	List bool   `json:"list,omitempty"`
	Op   string `json:"op"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Show bool   `json:"show,omitempty"` // say each call before it is made
	Case string `json:"case,omitempty"` // make this one call instead, as it is
	Skip []int  `json:"skip,omitempty"` // earlier cases that end a worker

	Without []engine.Device `json:"without,omitempty"` // make no calls there

	// AsItIs reports that no smaller calls are searched for, as a worker ended in
	// one.
	AsItIs bool `json:"asItIs,omitempty"`

	// Learned are the facts that an earlier worker learned, and Origins those of its
	// cases since: these need not run again.
	Learned string                `json:"learned,omitempty"`
	Origins map[int]design.Origin `json:"origins,omitempty"`
}

// lineForeign stands before a line that has no key: "foreign TEXT".
const lineForeign = "foreign"

// loadMark is written by a worker where it begins to load a library.
const loadMark = "\x1e"

// foreign is the error for a line of a worker that is not its own.
func foreign(text string) error {
	return fmt.Errorf("a worker answered %q: the kernel may write to file %d, which is the worker's", text, replyFile)
}

// ownFault is the error for a panic of opassert's, as a worker wrote it down.
func ownFault(quoted string) error {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		text = quoted
	}
	return errors.New(text)
}

// encode writes a value as one word. Its numbers may be any, NaN included.
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
