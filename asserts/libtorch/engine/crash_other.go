//go:build !linux || !cgo

package engine

func watchCrashes() {}
