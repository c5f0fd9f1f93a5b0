// Command references counts the references between the files of packages: a file
// refers to a name of another one once, however often it does. Of files that
// refer to each other, some refer up, whichever comes first.
//
//	go run ./internal/references ./asserts/suite/...
//
// For each package it prints how many references its files make to each other
// and to other packages of the patterns, and those that go up in an order of
// its files that has few such.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	all, err := load(".", os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "references:", err)
		os.Exit(2)
	}
	write(os.Stdout, all)
}

func write(w io.Writer, all []reference) {
	for _, c := range count(all) {
		fmt.Fprintf(w, "%s: %d references between its files, %d of them up; %d to other packages\n", c.pkg, c.within, len(c.up), c.across)
		for _, r := range c.up {
			fmt.Fprintf(w, "\t%s refers to %s in %s\n", r.from.name, r.object, r.to.name)
		}
	}
}
