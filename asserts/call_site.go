package asserts

import (
	"bytes"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// callSite returns the line that called the wrapper, which is the caller of [Call.After], or of the
// engine that called [Call.JudgeSeen]; and the wrapper's name with its package.
func callSite() (at Site, wrapper string) {
	pcs := make([]uintptr, 64)
	for runtime.Callers(0, pcs) == len(pcs) { // a panic of Observe may be deep
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	site, more := frames.Next()
	for skip := -1; more && skip != 0; {
		switch site, more = frames.Next(); {
		case strings.HasSuffix(site.Function, "/asserts.(*Call).After"),
			strings.HasSuffix(site.Function, "/asserts.(*Call).AfterError"):
			skip = 1
		case strings.HasSuffix(site.Function, "/asserts.(*Call).JudgeSeen"):
			skip = 2
		default:
			skip--
		}
	}
	wrapper = path.Base(site.Function)
	for more { //mutate:equivalent true: every stack ends in runtime.goexit
		var caller runtime.Frame
		caller, more = frames.Next()
		if strings.HasPrefix(caller.Function, "reflect.") { // a wrapper called by reflection
			continue
		}
		if caller.Function != "runtime.goexit" {
			site = caller
		}
		break
	}
	return siteOf(site), wrapper
}

func siteOf(frame runtime.Frame) Site {
	return Site{File: inModule(frame, program()), Line: frame.Line, Func: frame.Function}
}

// inModule returns the frame's file relative to the program's module, or after the import path of another's package.
func inModule(frame runtime.Frame, program *debug.BuildInfo) string {
	folder, name := packagePath(frame.Function, program.Path), path.Base(filepath.ToSlash(frame.File))
	if strings.HasSuffix(name, "_test.go") {
		folder = strings.TrimSuffix(folder, "_test")
	}
	if rest, ok := strings.CutPrefix(folder+"/", program.Main.Path+"/"); ok {
		folder = rest
	}
	return path.Join(folder, name)
}

// packagePath returns the import path in a function's name as the linker writes it:
// "gopkg.in/yaml%2ev3.(*Node).Decode". A command's is "main", which becomes that of the program's package.
func packagePath(function, program string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return ""
	}
	folder, err := url.PathUnescape(function[:slash+dot])
	if err != nil {
		folder = function[:slash+dot]
	}
	switch {
	case folder != "main":
		return folder
	case program == "command-line-arguments": // go run FILE
		return ""
	}
	return program
}

var program = sync.OnceValue(func() *debug.BuildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok { //mutate:equivalent true: the go command always records it
		return new(debug.BuildInfo)
	}
	return info
})

// goroutines returns the number of this goroutine and of the one that started it, 0 for none. It
// parses a stack trace, which is slow, and is called only for violations.
func goroutines() (self, creator uint64) {
	trace := make([]byte, 4<<10)
	for {
		if n := runtime.Stack(trace, false); n < len(trace) {
			trace = trace[:n]
			break
		}
		trace = make([]byte, 2*len(trace))
	}
	_, started, _ := bytes.Cut(trace, []byte(" in goroutine "))
	return number(bytes.TrimPrefix(trace, []byte("goroutine "))), number(started)
}

func number(text []byte) uint64 {
	n, _ := strconv.ParseUint(string(text[:len(text)-len(bytes.TrimLeft(text, "0123456789"))]), 10, 64)
	return n
}
