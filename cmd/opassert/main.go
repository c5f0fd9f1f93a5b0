// Command opassert checks operator kernels against their schemas. "opassert -h" lists its subcommands.
package main

import (
	"os"
	"runtime/debug"

	"github.com/opassert/opassert/cmd/opassert/internal/cli"
)

func main() {
	// Runs over a large schema file are short: using memory is cheaper than collecting it, up to what one may use.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(256 << 20)
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
