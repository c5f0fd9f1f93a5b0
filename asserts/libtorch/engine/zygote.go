//go:build libtorch

package engine

// This file makes zygote.c part of the package.

import "C"
