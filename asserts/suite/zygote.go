//go:build libtorch

package suite

// This file makes zygote.c part of the package.

import "C"
