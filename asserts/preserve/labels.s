// This file lets labels.go declare a function without a body.
