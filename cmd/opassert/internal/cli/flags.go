package cli

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/gen/plan"
)

// A flagRow is the line of help of a flag, of each command that has it. The name of one that
// means something else for a command begins with the command: "run json".
type flagRow struct{ group, name, help string }

//go:embed flags.txt
var flagText string

// flagRows are the lines of flags.txt, each with the group above it.
var flagRows = func() (rows []flagRow) {
	engines, presets := strings.Join(checkup.Engines(), "|"), strings.Join(plan.Presets(), "|")
	text, group := strings.NewReplacer("{engines}", engines, "{presets}", presets).Replace(flagText), ""
	for line := range strings.Lines(text) {
		name, help, isFlag := strings.Cut(strings.TrimSpace(line), ": ")
		if isFlag {
			rows = append(rows, flagRow{group, name, help})
		} else {
			group = name
		}
	}
	return rows
}()

// rowOf returns the row of a command's flag, nil if it has none.
func rowOf(command, name string) *flagRow {
	for _, asked := range []string{command + " " + name, name} {
		if i := slices.IndexFunc(flagRows, func(row flagRow) bool { return row.name == asked }); i >= 0 {
			return &flagRows[i]
		}
	}
	return nil
}

// printFlags prints the flags group by group, each in a line.
func printFlags(w io.Writer, command string, flags *flag.FlagSet) {
	group := ""
	for _, row := range flagRows {
		name := row.name[strings.Index(row.name, " ")+1:]
		f := flags.Lookup(name)
		if f == nil || *rowOf(command, name) != row {
			continue
		}
		if row.group != group {
			group = row.group
			fmt.Fprintf(w, "%s:\n", group)
		}
		value, usage := flag.UnquoteUsage(f)
		if strings.Contains(value, "|") {
			value = ""
		}
		if !slices.Contains([]string{"", "0", "false", "true"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-20s %s\n", strings.TrimSpace("-"+f.Name+" "+value), usage)
	}
}

// An optionalBool is a flag that is true, false or not given.
type optionalBool struct{ given, on bool }

func (b *optionalBool) String() string {
	if b.given {
		return strconv.FormatBool(b.on)
	}
	return ""
}

func (b *optionalBool) Set(text string) (err error) {
	b.given = true
	b.on, err = strconv.ParseBool(text)
	return err
}

func (*optionalBool) IsBoolFlag() bool { return true }

func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
