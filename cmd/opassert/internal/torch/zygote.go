//go:build linux

package torch

// This file makes zygote.c part of the package.

// #cgo LDFLAGS: -ldl
import "C"
