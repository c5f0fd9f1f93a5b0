// Command addprobe begins a new probe: it writes the file of its row, which is then completed by
// hand. Run it at the repository's root:
//
//	go run ./internal/dev/addprobe other-locale
//
// What is left to write is "..."; the tests of the packages work and repro name what else is missing: a
// planted fault, a healthy twin, and a program, or why it has none.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed probe.go.tmpl
var row string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: addprobe NAME")
		os.Exit(2)
	}
	path, err := begin(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "addprobe:", err)
		os.Exit(1)
	}
	fmt.Println(path)
	fmt.Println("complete it, then run go test ./asserts/suite/...")
}

var wellFormed = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// begin writes the file below a repository's root, and returns its path. An existing file is an error.
func begin(root, name string) (string, error) {
	if !wellFormed.MatchString(name) {
		return "", fmt.Errorf("%q is not the name of a probe: expected words in small letters, with - between", name)
	}
	path := filepath.Join(root, "asserts", "suite", "internal", "probe", strings.ReplaceAll(name, "-", "_")+".go")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(strings.ReplaceAll(row, "NAME", name))
	return path, errors.Join(err, f.Close())
}
