//go:build linux

package engine

// This file makes zygote.c part of the package.

// #cgo LDFLAGS: -ldl
import "C"
