package cli

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
)

// A rename is a flag that had another name in the last version.
type rename struct {
	now  string
	bool map[string]string // the values of a flag that is a switch now, nil for others
}

// renamed are the old names, which are accepted for one version.
var renamed = map[string]rename{
	"a":          {now: "rerun"},
	"base":       {now: "pytorch-schema"},
	"cases-from": {now: "cases"},
	"memory":     {"guard", map[string]string{"on": "true", "off": "false"}},
	"through":    {"autograd", map[string]string{"autograd": "true", "backend": "false"}},
}

// currentName returns what a flag is called that had another name, and its value. A number of -cases is that of -n.
func currentName(f *flag.FlagSet, name, value string) (now, then string, ok bool) {
	if _, err := strconv.Atoi(value); err == nil && name == "cases" && f.Lookup("n") != nil {
		return "n", value, true
	}
	r, ok := renamed[name]
	if !ok || f.Lookup(name) != nil || f.Lookup(r.now) == nil {
		return name, value, false
	}
	if then, ok := r.bool[value]; ok {
		return r.now, then, true
	}
	return r.now, value, true
}

// currentNames returns the command line with the names that flags have now, and prints a line for each old one.
func (inv *invocation) currentNames(args []string) (now []string) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && args[0] != "--" {
		name, value, joined := strings.Cut(strings.TrimPrefix(args[0][1:], "-"), "=")
		known := inv.flags.Lookup(name)
		if _, old := renamed[name]; known == nil && !old {
			break
		}
		alone := joined || name == "a" || known != nil && isSwitch(known)
		if !alone && len(args) == 1 {
			break
		}
		word := args[:1]
		if !alone {
			word, value = args[:2], args[1]
		}
		args = args[len(word):]
		current, then, ok := currentName(inv.flags, name, value)
		switch {
		case !ok:
		case renamed[name].bool != nil || joined:
			word = []string{"-" + current + "=" + then}
		case alone:
			word = []string{"-" + current}
		default:
			word = []string{"-" + current, then}
		}
		if ok && !isWorker() {
			fmt.Fprintf(inv.stderr, "opassert: -%s is called -%s; the old name is accepted until the next version\n", name, current)
		}
		now = append(now, word...)
	}
	return append(now, args...)
}
