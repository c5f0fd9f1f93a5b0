package cli

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

// Each flag of check is in one group, with a line of help, and there are not more than the ceiling.
func TestFlagsOfCheck(t *testing.T) {
	const ceiling = 32
	var rows, flags []string
	for _, row := range checkRows {
		rows = append(rows, row.name)
		if row.help == "" || strings.Contains(row.help, "\n") {
			t.Errorf("the help of -%s is not one line: %q", row.name, row.help)
		}
	}
	flagsOf(checkCommand).VisitAll(func(f *flag.Flag) { flags = append(flags, f.Name) })
	if slices.Sort(rows); !slices.Equal(rows, flags) {
		t.Errorf("rows for %v, flags %v", rows, flags)
	}
	if len(flags) > ceiling {
		t.Errorf("check has %d flags, at most %d", len(flags), ceiling)
	}
}

// An old name is accepted before and after other flags, up to the first argument, and no value is taken for one.
func TestOldNames(t *testing.T) {
	for args, want := range map[string]string{
		"-a":                             "-rerun",
		"-a=false -q":                    "-rerun=false -q",
		"--cases 30 -op -a":              "-n 30 -op -a",
		"-cases=30":                      "-n=30",
		"-cases a.yaml":                  "-cases a.yaml",
		"-cases-from 30":                 "-cases 30",
		"-memory on -through autograd":   "-guard=true -autograd=true",
		"-memory=off --through=backend":  "-guard=false -autograd=false",
		"-q -- -a":                       "-q -- -a",
		"x -a":                           "x -a",
		"-nope -a":                       "-nope -a",
		"-memory":                        "-memory",
		"-memory yes":                    "-guard=yes",
		"-op aten::sin -seed 3 -json -a": "-op aten::sin -seed 3 -json -rerun",
	} {
		inv := newInvocation(checkCommand, nil, new(strings.Builder), new(strings.Builder))
		inv.flags = flagsOf(checkCommand)
		got := strings.Join(inv.currentNames(strings.Fields(args)), " ")
		if said := inv.stderr.(*strings.Builder).String(); got != want || (said != "") != (args != want && !strings.HasPrefix(args, "-cases a")) {
			t.Errorf("%s: %s, want %s; %s", args, got, want, said)
		}
	}
}
