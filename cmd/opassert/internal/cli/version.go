package cli

import (
	"fmt"
	"runtime"

	"github.com/opassert/opassert/internal/installed"
)

var versionCommand = command{
	name:    "version",
	summary: "print the version, and which libtorch is found",
	about: `
opassert -version is the same.`,
	run: runVersion,
}

func runVersion(inv *invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	fmt.Fprintf(inv.stdout, "opassert %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	found, others, err := installed.Find("")
	if err != nil {
		fmt.Fprintf(inv.stdout, "no libtorch: %v\n", err)
		return nil
	}
	fmt.Fprintf(inv.stdout, "%v (%s)\n", found, found.Found)
	for _, other := range others {
		fmt.Fprintf(inv.stdout, "also %v (%s)\n", other, other.Found)
	}
	return nil
}
