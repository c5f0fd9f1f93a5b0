// Package reference has the pages that "opassert help TOPIC" prints.
package reference

import "embed"

//go:embed *.md
var Pages embed.FS
