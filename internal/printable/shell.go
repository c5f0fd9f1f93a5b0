package printable

import "strings"

// Shell returns a command, quoted for a shell.
func Shell(words ...string) string {
	var quoted []string
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'`$\\*?[](){}<>|&;!#~") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}
