package watch

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Frame is one place in the program on the way to a call.
type Frame asserts.Site

func (f Frame) String() string {
	s := f.File
	if f.Line > 0 {
		s += ":" + strconv.Itoa(f.Line)
	}
	if f.Func != "" {
		s += " in " + f.Func
	}
	return s
}

// A pythonFolders is the folders whose frames are not the user's.
type pythonFolders struct {
	torch  string // folder of the Python package torch
	stdlib string // folder of Python's own modules
	cwd    string // names of files below it are relative to it
}

// frames reads the frames of a place, after the letter for their sort.
func (l pythonFolders) frames(place string) (users []Frame, generated string) {
	if native, ok := strings.CutPrefix(place, "C"); ok {
		return l.nativeFrames(native), ""
	}
	return l.pythonFrames(strings.TrimPrefix(place, "P"))
}

var pythonLine = regexp.MustCompile(`(?m)^  File "(.*)", line (\d+) in (.*)$`)

// pythonFrames reads the output of faulthandler, outermost frame first. Generated
// is FILE:LINE of a call in code that PyTorch's compiler generated.
func (l pythonFolders) pythonFrames(text string) (users []Frame, generated string) {
	var all []Frame
	for _, m := range pythonLine.FindAllStringSubmatch(text, -1) {
		line, _ := strconv.Atoi(m[2])
		file := unescape(m[1])
		f := Frame{File: l.short(file), Line: line, Func: unescape(m[3])}
		all = append(all, f)
		switch {
		case l.foreign(file):
		case !compiled(file):
			users = append(users, f)
		case len(users) == 0 && generated == "":
			generated = file + ":" + m[2]
		}
	}
	if len(users) == 0 {
		users = all
	}
	slices.Reverse(users)
	return users, generated
}

// foreign reports whether a file is PyTorch's, Python's or a test runner's.
func (l pythonFolders) foreign(file string) bool {
	if strings.HasPrefix(file, "<frozen") || l.torch != "" && strings.HasPrefix(file, l.torch+"/") {
		return true
	}
	for _, runner := range []string{"/_pytest/", "/pluggy/", "/pytest/__main__.py", "/torch/_ops.py"} {
		if strings.Contains(file, runner) {
			return true
		}
	}
	inside, ok := strings.CutPrefix(file, l.stdlib+"/")
	installed := strings.HasPrefix(inside, "site-packages/") || strings.HasPrefix(inside, "dist-packages/")
	return ok && l.stdlib != "" && !installed
}

func (l pythonFolders) short(file string) string {
	if rel, _ := filepath.Rel(l.cwd, file); l.cwd != "" && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

var escape = regexp.MustCompile(`\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})`)

// unescape reads the escapes of faulthandler for characters that are not ASCII.
func unescape(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseInt(e[2:], 16, 32)
		return string(rune(n))
	})
}

// inTorch are the modules whose frames are not the user's.
var inTorch = regexp.MustCompile(`^(libtorch|libc10|libpython|libc\.so|libc-|libpthread|libstdc|libgcc|libgomp|` +
	`ld-linux|python[\d.]*$|pypy|libopassert|opassert)`)

// nativeFrames reads the output of native_frames, outermost frame first.
func (l pythonFolders) nativeFrames(text string) []Frame {
	var frames []Frame
	for line := range strings.Lines(text) {
		place, symbol, _ := strings.Cut(strings.TrimSpace(line), " ")
		i := strings.LastIndex(place, "+0x")
		if i < 0 {
			continue
		}
		module := place[:i]
		offset, err := strconv.ParseUint(place[i+3:], 16, 64)
		if err != nil || inTorch.MatchString(filepath.Base(module)) {
			continue
		}
		frames = append(frames, l.source(module, offset, symbol)...)
	}
	slices.Reverse(frames)
	return frames
}

// source returns the user's source lines of an address, those of inlined calls first, the innermost
// ahead; with no debug information the module and the function.
func (l pythonFolders) source(module string, offset uint64, symbol string) []Frame {
	lines := torch.Lines(module, offset)
	if lines == nil {
		return []Frame{{File: l.short(module), Func: symbol}}
	}
	return slicesx.Map(lines, func(at asserts.Site) Frame {
		return Frame{l.short(at.File), at.Line, cmp.Or(at.Func, symbol)}
	})
}

// answer reads the watcher's record of the Python class that answered a call: the
// class, the method, its file and line. It is nil if the op's kernel did.
func (l pythonFolders) answer(text string) *asserts.Answer {
	fields := strings.Split(text, "\x1f")
	if len(fields) < 4 {
		return nil
	}
	line, _ := strconv.Atoi(fields[3])
	return &asserts.Answer{Class: fields[0], Site: asserts.Site{File: l.short(fields[2]), Line: line, Func: fields[1]}}
}

// answeredBy adds the class that answered the call to violations, with another fix: the kernel is not at fault.
func answeredBy(a *asserts.Answer, broken []*asserts.Violation) {
	for _, v := range broken {
		v.Answer = a
		if fix := v.Code.InPython(); a != nil && fix != "" {
			v.Fix = fix
		}
	}
}
