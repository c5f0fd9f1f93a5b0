package sample

import "strings"

// Line shortens an error to the beginning of one line.
func Line(text string) string { return shortened(strings.Join(strings.Fields(text), " "), 160) }

// Clip shortens an error to its beginning, and keeps its lines.
func Clip(text string) string {
	return shortened(strings.ToValidUTF8(strings.TrimSpace(text), "?"), 400)
}

func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
