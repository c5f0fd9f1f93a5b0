package trace

import (
	"bytes"
	"unicode"
)

// process returns the part of a line's prefix that names the process, as launchers
// write it: "[rank0]:", "[default1]:", "(rank 2)", "[1,3]<stdout>:", "worker-4 |",
// "pid=17", and the text after it. The name is empty if the prefix names none: it may
// be a time.
func process(prefix []byte) (name, after []byte) {
	for at := 0; ; {
		field := prefix[at:]
		start := bytes.IndexFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if start < 0 {
			return nil, prefix
		}
		open := bytes.LastIndexAny(field[:start], "[(<{")
		field, at = field[start:], at+start
		end := bytes.IndexFunc(field, func(r rune) bool { return unicode.IsSpace(r) || r == '|' })
		if open >= 0 {
			end = bytes.IndexAny(field, "])>}")
		}
		if end < 0 {
			end = len(field)
		}
		word := bytes.TrimRight(field[:end], ":")
		if !isProcess(word) && open < 0 { // "rank 0:"
			if more := bytes.IndexAny(field, ":|]"); more > end && isProcess(field[:more]) {
				end, word = more, field[:more]
			}
		}
		if isProcess(word) {
			return word, bytes.TrimLeft(field[end:], "])>}:| \t")
		}
		at += max(end, 1)
	}
}

// isProcess reports whether a word names a process: one of the words that
// launchers use and a number, or MPI's "job,rank".
func isProcess(word []byte) bool {
	digits := bytes.IndexFunc(word, unicode.IsDigit)
	if len(word) > 64 {
		return false
	}
	lower := bytes.ToLower(word)
	for _, w := range processWords {
		if i := bytes.Index(lower, []byte(w)); i >= 0 && digits > i {
			return true
		}
	}
	comma := bytes.IndexByte(word, ',')
	return comma > 0 && allDigits(word[:comma]) && allDigits(word[comma+1:])
}

var processWords = []string{"rank", "default", "worker", "trainer", "proc", "node", "pid", "gpu", "cuda", "task", "replica"}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}
