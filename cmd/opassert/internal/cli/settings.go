package cli

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/cmd/opassert/internal/settings"
	"github.com/opassert/opassert/internal/yamlfile"
)

// applyConfig sets the flags that the command line does not set to the values of opassert.yaml.
func (inv *invocation) applyConfig() error {
	if !hasFlags(inv.flags) {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	path, err := settings.Find(here)
	if path == "" || err != nil {
		return err
	}
	inv.settings = path
	name, err := filepath.Rel(here, path)
	if err != nil {
		return err
	}
	return inv.applyConfigFrom(name)
}

func hasFlags(f *flag.FlagSet) (has bool) {
	f.VisitAll(func(*flag.Flag) { has = true })
	return has
}

func (inv *invocation) applyConfigFrom(path string) error {
	names := make(map[string][]string)
	for _, c := range commands {
		flagsOf(c).VisitAll(func(f *flag.Flag) { names[c.name] = append(names[c.name], f.Name) })
	}
	file, err := settings.Read(path, path, names)
	if err != nil {
		return err
	}
	s := &configReader{inv: inv, file: file, own: make(map[string]setting)}
	own := make(map[string]settings.Setting)
	for _, one := range file.Settings { // those of all commands first
		if one.Command == "" || one.Command == inv.name {
			own[one.Flag] = one
		}
	}
	flagsOf(inv.command).VisitAll(func(f *flag.Flag) {
		if one, set := own[f.Name]; set {
			s.read(one, f)
		}
	})
	if len(file.Errs) == 0 {
		s.apply(path)
	}
	file.Errs.Sort()
	return file.Errs.Err()
}

type configReader struct {
	inv  *invocation
	file *settings.File
	own  map[string]setting // the settings of this command, by flag
}

// A setting is the file's value for a flag of this command.
type setting struct {
	values []settings.FlagValue
	common bool // it is for all commands that have the flag
}

// read tries a setting on a flag like that of this command, and keeps it.
func (s *configReader) read(one settings.Setting, f *flag.Flag) {
	values := s.values(one, f)
	switch why := try(f, values); {
	case why == "":
		s.own[one.Flag] = setting{values, one.Command == ""}
	case one.Command == "":
		s.file.ReportAt(s.file.At(one), "%s, for opassert %s: write it below its command", why, s.inv.name)
	default:
		s.file.ReportAt(s.file.At(one), "%s", why)
	}
}

func kindOf(f *flag.Flag) string {
	kind, _ := flag.UnquoteUsage(f)
	switch {
	case isSwitch(f):
		return "true or false"
	case slices.Contains([]string{"int", "uint", "N"}, kind):
		return "a number"
	case kind == "interpreter":
		return "an interpreter"
	case kind == "duration":
		return "a duration such as 2s"
	case kind == "string" || kind == "value" || strings.Contains(kind, "|"):
		return "text"
	}
	return "a " + kind
}

func (s *configReader) values(one settings.Setting, f *flag.Flag) []settings.FlagValue {
	if isSwitch(f) {
		return s.file.Bool(one)
	}
	if _, several := f.Value.(*repeated); several {
		return s.file.List(one, kindOf(f))
	}
	return s.file.Text(one, kindOf(f))
}

// try returns the reason why a flag can't have the values, or "".
func try(f *flag.Flag, values []settings.FlagValue) string {
	words, _ := flag.UnquoteUsage(f)
	choice := strings.Split(words, "|")
	for _, v := range values {
		if len(choice) > 1 && !slices.Contains(choice, v.Text) {
			near, all := yamlfile.Suggest(v.Text, choice), strings.Join(choice, ", ")
			return fmt.Sprintf("%s %q is unknown%s; it is one of %s", f.Name, yamlfile.Clip(v.Text), near, all)
		}
		if f.Value.Set(v.Text) != nil {
			return fmt.Sprintf("expected %s to be %s, found %q", f.Name, kindOf(f), yamlfile.Clip(v.Text))
		}
	}
	return ""
}

// apply sets the flags that the command line does not set, and prints which.
func (s *configReader) apply(path string) {
	s.inv.replaced = make(map[string]bool)
	s.inv.flags.Visit(func(f *flag.Flag) {
		_, s.inv.replaced[f.Name] = s.own[f.Name]
		delete(s.own, f.Name)
	})
	dir := filepath.Dir(path)
	s.inv.common = make(map[string]bool)
	var set []string
	for _, name := range slices.Sorted(maps.Keys(s.own)) {
		for _, v := range s.own[name].values {
			s.inv.flags.Set(name, placed(s.inv.flags.Lookup(name), v.Text, dir)) // it was tried
		}
		s.inv.common[name] = s.own[name].common
		set = append(set, "-"+name)
	}
	for name, one := range s.own { // once all outputs are known
		s.present(s.inv.flags.Lookup(name), one.values, dir)
		s.inTree(s.inv.flags.Lookup(name), one.values, dir)
	}
	s.inv.uses = append(s.inv.uses, use{by: "the command", path: path}.at())
	if len(s.file.Errs) == 0 {
		s.inv.printSettings(path, set)
	}
}

// whoseCode are the flags that set which code runs, and are printed with -q too.
var whoseCode = []string{"-engine", "-lib", "-libtorch", "-module", "-python"}

// printSettings prints the flags set by the file. A worker leaves that to its run.
func (inv *invocation) printSettings(path string, set []string) {
	if q := inv.flags.Lookup("q"); q != nil && q.Value.String() == "true" {
		set = slices.DeleteFunc(set, func(name string) bool { return !slices.Contains(whoseCode, name) })
	}
	if len(set) > 0 && !isWorker() {
		fmt.Fprintf(inv.stderr, "opassert: %s sets %s\n", path, strings.Join(set, ", "))
	}
}

// placed is a path of a file in a folder, relative to the working folder.
func placed(f *flag.Flag, text, dir string) string {
	if !isPath(f, text) {
		return text
	}
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	at := filepath.Join(dir, text)
	if kind, _ := flag.UnquoteUsage(f); kind == "pattern" && !strings.HasPrefix(at, "..") {
		return "./" + filepath.ToSlash(at)
	}
	return at
}

// isPath reports whether a flag's value is a path, and not a preset, a command or a Go package.
func isPath(f *flag.Flag, text string) bool {
	kind, _ := flag.UnquoteUsage(f)
	switch kind {
	case "file":
		preset := f.Name == "allow" && slices.Contains(allowlist.PresetNames(), text)
		return !preset && !(f.Name == "state" && text == newState)
	case "folder", "library":
		return true
	case "interpreter":
		return strings.Contains(text, "/")
	case "pattern":
		return text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
	}
	return false
}

// present reports missing input files.
func (s *configReader) present(f *flag.Flag, values []settings.FlagValue, dir string) {
	if out, ok := f.Value.(fileOutput); ok && out.writes() {
		return
	}
	if kind, _ := flag.UnquoteUsage(f); kind == "pattern" {
		return
	}
	for _, v := range values {
		at := placed(f, v.Text, dir)
		if _, err := os.Stat(at); err != nil && isPath(f, v.Text) {
			s.file.ReportAt(v.Pos, "%s: there is no %s%s", f.Name, at, remedy(f, v.Text))
		}
	}
}

// inTree reports outputs outside of the tree to which the file applies.
func (s *configReader) inTree(f *flag.Flag, values []settings.FlagValue, dir string) {
	if out, ok := f.Value.(fileOutput); !ok || !out.writes() {
		return
	}
	root := settings.Root(filepath.Dir(s.inv.settings))
	for _, v := range values {
		at := resolved(placed(f, v.Text, dir))
		if rel, err := filepath.Rel(resolved(root), at); err != nil || !filepath.IsLocal(rel) {
			s.file.ReportAt(v.Pos, "%s: %s is not in %s: only the command line sets an output outside of it",
				f.Name, v.Text, root)
		}
	}
}

// remedy returns the advice about a missing file.
func remedy(f *flag.Flag, text string) string {
	if f.Name == "allow" {
		names := allowlist.PresetNames()
		return cmp.Or(yamlfile.Suggest(text, names), "; want a file, or one of the presets "+strings.Join(names, ", "))
	}
	if _, ok := f.Value.(*baselineFlags); ok {
		return "; write it with -update"
	}
	return "; the path is relative to this file"
}

// given reports whether a flag was set for this command.
func (inv *invocation) given(name string) (given bool) {
	inv.flags.Visit(func(f *flag.Flag) { given = given || f.Name == name && !inv.common[name] })
	return given
}

// forget resets a flag that opassert.yaml sets for all commands and that this one does not use.
func (inv *invocation) forget(name string) {
	f := inv.flags.Lookup(name)
	several, is := f.Value.(*repeated)
	switch {
	case !inv.common[name]:
	case is:
		*several = nil
	default:
		f.Value.Set(f.DefValue) // which was its value
	}
}
