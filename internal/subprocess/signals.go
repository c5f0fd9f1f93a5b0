package subprocess

import (
	"os"
	"os/signal"
	"syscall"
)

// Notify asks for the signals that interrupt this process, until [signal.Stop].
func Notify(signals chan<- os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup: what this process starts ignores it too
			signal.Notify(signals, s)
		}
	}
}
