package sample

import (
	"strings"
)

// Line shortens an error to its beginning.
func Line(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func Clip(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "?")
	if len(text) > 400 {
		text = text[:400] + "..."
	}
	return text
}
