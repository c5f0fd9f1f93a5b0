package failing

func Zero(n int) bool { return n == 0 }
