package watch

import (
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
)

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
