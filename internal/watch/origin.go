package watch

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"
)

// compiled reports whether PyTorch's compiler has written a file of Python, or
// made one of a graph that is run as it is.
func compiled(file string) bool {
	if strings.HasPrefix(file, "<eval_with_key>") {
		return true
	}
	if known, ok := written.Load(file); ok {
		return known.(bool)
	}
	var line string
	if f, err := os.Open(file); err == nil { //mutate:equivalent true: a nil file is read as an empty one
		line, _ = bufio.NewReaderSize(f, 16).ReadString('\n')
		f.Close()
	}
	is := strings.HasPrefix(line, "# AOT ID: ")
	written.Store(file, is)
	return is
}

var written sync.Map // file -> what compiled returned

// originFrames reads the frames that a line of generated code comes from: file,
// line and function of each, outermost first.
func (l layout) originFrames(text string) []Frame {
	var frames []Frame
	words := strings.Split(text, "\n")
	for ; len(words) > 3; words = words[3:] {
		if line, err := strconv.Atoi(words[1]); err == nil && !l.foreign(words[0]) {
			frames = append(frames, Frame{File: l.short(words[0]), Line: line, Function: words[2]})
		}
	}
	return frames
}

// calledFrom returns the frames of a call in generated code: those of the program
// that led there, and those that the code comes from instead of the function
// that was compiled.
func calledFrom(site, origin []Frame) []Frame {
	if n := len(site); n > 0 && len(origin) > 0 && site[n-1].File == origin[0].File && site[n-1].Function == origin[0].Function {
		site = site[:n-1]
	}
	return append(site[:len(site):len(site)], origin...)
}

// origins are those of lines of generated code, FILE:LINE, and the calls that wait for
// one: the program's Python looks it up when it next comes by.
type origins struct {
	mu      sync.Mutex
	known   map[string][]Frame
	waiting map[string][]func([]Frame)
}

func newOrigins() origins {
	return origins{known: make(map[string][]Frame), waiting: make(map[string][]func([]Frame))}
}

// wait calls then with the origin, and reports whether it is to be asked for.
func (o *origins) wait(line string, then func([]Frame)) (ask bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known, ok := o.known[line]; ok {
		then(known)
		return false
	}
	o.waiting[line] = append(o.waiting[line], then)
	return len(o.waiting[line]) == 1
}

func (o *origins) found(line string, origin []Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[line] = origin
	for _, then := range o.waiting[line] {
		then(origin)
	}
	delete(o.waiting, line)
}

// end is for those that no process has answered for.
func (o *origins) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, waiting := range o.waiting {
		for _, then := range waiting {
			then(nil)
		}
	}
	clear(o.waiting)
}
