//go:build !linux

package subprocess

import "syscall"

// Raise does nothing: on this system no program is watched.
func Raise(syscall.Signal) {}
