// Command addcheck begins a new check: it writes the two files that are then
// completed by hand, with the next code. Run it at the repository's root:
//
//	go run ./internal/dev/addcheck -about return within-page
//
// What is left to write is "..."; the tests name each such part, and anything else
// that is missing. make golden then writes all that follows from the two files.
package main

import (
	"embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/opassert/opassert/asserts"
)

//go:embed *.tmpl
var templates embed.FS

// A check is the data of the templates.
type check struct {
	Name   string // "within-page"
	Ident  string // "WithinPage"
	Method string // "withinPage"
	File   string // "within_page"
	Code   asserts.Code
	Return bool // it checks returns, not arguments
}

func main() {
	about := flag.String("about", "return", "`what` the check is about: return or argument")
	flag.Parse()
	if flag.NArg() != 1 || *about != "return" && *about != "argument" {
		fmt.Fprintln(os.Stderr, "usage: addcheck [-about return|argument] NAME")
		os.Exit(2)
	}
	if err := begin(".", flag.Arg(0), *about == "return"); err != nil {
		fmt.Fprintln(os.Stderr, "addcheck:", err)
		os.Exit(1)
	}
}

var wellFormed = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// begin writes the two files below a repository's root. Existing files are an error.
func begin(root, name string, ofReturn bool) error {
	if !wellFormed.MatchString(name) {
		return fmt.Errorf("%q is not the name of a check: expected words in small letters, with - between", name)
	}
	if c, ok := asserts.ParseCode(name); ok {
		return fmt.Errorf("%s already is the name of %v", name, c)
	}
	c := newCheck(name, ofReturn)
	files := map[string]string{
		"check.go.tmpl": filepath.Join(root, "asserts", "check_"+c.File+".go"),
		"fault.go.tmpl": filepath.Join(root, "internal", "testbed", "faults", c.File+".go"),
	}
	for _, path := range files {
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s exists", path)
		}
	}
	all := template.Must(template.ParseFS(templates, "*.tmpl"))
	for name, path := range files {
		var text strings.Builder
		if err := all.ExecuteTemplate(&text, name, c); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			return err
		}
		fmt.Println(path)
	}
	fmt.Println("complete both, then run make golden and go test ./...")
	return nil
}

// newCheck returns a check with the next free code.
func newCheck(name string, ofReturn bool) check {
	c := check{Name: name, File: strings.ReplaceAll(name, "-", "_"), Return: ofReturn}
	for _, word := range strings.Split(name, "-") {
		c.Ident += strings.ToUpper(word[:1]) + word[1:]
	}
	c.Method = strings.ToLower(c.Ident[:1]) + c.Ident[1:]
	for code := range asserts.AllCodes.All() {
		c.Code = code + 1
	}
	return c
}
