// Command opassert checks operator kernels against their schemas. Run
// "opassert -h" for what it can do.
package main

import (
	"os"

	"github.com/opassert/opassert/cmd/opassert/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
