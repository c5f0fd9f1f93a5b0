package number

// Sign has a good test.
func Sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// Max has a test that never looks.
func Max(a, b int) int {
	if !(a > b) {
		return b
	}
	return a
}

// Cached has a mutant that no test can notice.
func Cached(key string) int {
	n, ok := cache[key]
	if ok { //mutate:equivalent false: only saves time
		return n
	}
	cache[key] = len(key)
	return len(key)
}

var cache = map[string]int{}

// Abs excuses a mutant that its test does notice.
func Abs(n int) int {
	if n < 0 { //mutate:equivalent false: wrong
		return -n
	}
	return n
}
