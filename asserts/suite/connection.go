package suite

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A connection is a worker's connection to its run.
//
// Each line of a worker begins with a key that the run has chosen: a line without it was written by
// a kernel, and is discarded. The key is in no argument, variable or file, and the replies are a
// socket that cannot be read. It is in the worker's memory, where a kernel could search for it:
// that cannot be prevented, nor that a Go package reads it while it is initialized.
type connection struct {
	in  *os.File
	out *bufio.Writer
	key string
	pid int
}

var connected = sync.OnceValues(func() (*connection, error) {
	file := os.NewFile(keyFile, "key")
	defer file.Close()
	key, err := io.ReadAll(file)
	if err == nil && len(key) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("a worker's key: %w; a worker is started by a run", err)
	}
	in, err := takeRequests()
	out := bufio.NewWriterSize(os.NewFile(replyFile, "replies"), 1<<16) // so that lines are written whole
	return &connection{in, out, string(key), os.Getpid()}, err
})

// put buffers a line, which is sent with the next one.
func (c *connection) put(words ...any) error {
	if os.Getpid() != c.pid {
		os.Exit(0) // a kernel has forked, and the child returned here: only one worker may answer
	}
	fmt.Fprint(c.out, c.key, " ")
	_, err := fmt.Fprintln(c.out, words...)
	return err
}

// say sends a line, before a call that may end the worker.
func (c *connection) say(words ...any) error {
	c.put(words...) // Flush returns its error
	return c.out.Flush()
}

// requests returns the lines of the run. After the last one the run is over, or was killed: the worker exits.
func (c *connection) requests() <-chan string {
	lines := make(chan string)
	go func() {
		in := bufio.NewScanner(c.in)
		in.Buffer(nil, 1<<26)
		for in.Scan() {
			lines <- in.Text()
		}
		endGroup()
		os.Exit(0)
	}()
	return lines
}

// loadingLimit is the address space that a worker may add while it loads a library of ops.
const loadingLimit = 4 << 30

// Loading reports to the run that this worker is about to load a library, or with "" that it has
// loaded all. If the worker ends, the run names the library.
func Loading(library string) {
	c, err := connected()
	if err != nil {
		return // Serve returns it
	}
	fmt.Fprint(os.Stderr, loadMark)
	if library != "" {
		limitMemory(loadingLimit) // allocations beyond the limit fail
	}
	c.say(lineLoad, strconv.Quote(library))
}

// Refuse reports to the run why this worker cannot start.
func Refuse(err error) {
	c, none := connected()
	if none != nil {
		return // not connected to a run
	}
	word := lineFault
	switch {
	case errors.As(err, new(*engine.LibraryFault)):
		word = lineLibrary
	case errors.As(err, new(*engine.Lost)):
		word = lineLost
	}
	c.say(word, strconv.Quote(err.Error()))
}

// longestLine exceeds the length of any line of a worker.
const longestLine = 1 << 26

// readLine reads a worker's line without its key. A line without an end, or without a key, is foreign.
func readLine(in *bufio.Reader, key string) (string, error) {
	var line []byte
	mark := []byte(key + " ")
	for {
		part, err := in.ReadSlice('\n')
		foreign := !bytes.HasPrefix(part, mark) && len(line) == 0 || len(line) > longestLine
		line = append(line, part...)
		switch {
		case foreign && len(line) > 0:
			return lineForeign + " " + sample.Clip(string(line)), nil
		case err == nil:
			for bytes.Contains(line[1:], mark) { // a line is truncated if its worker is killed
				line = line[1+bytes.Index(line[1:], mark):]
			}
			return string(line[len(mark) : len(line)-1]), nil
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}
