package trace

import "bytes"

const word = `(?:rank|default|worker|trainer|proc|node|pid|gpu|cuda|task|replica)`

// named matches the part of a line's prefix that names the process, as launchers write it: "[rank0]:", "[default1]:",
// "(rank 2)", "[1,3]<stdout>:", "worker-4 |", "rank 2:", "pid=17". grep -H and pdsh write the file or the host, syslog
// and loggers the number of the process, foreman its name.
var named = lazily(`(?i)[\[(<{]([^\])>}]*` + word + `[^\])>}]*\d[^\])>}]*)[\])>}]` +
	`|(?:^|[\s|\[(<{])(\d+,\d+)(?:[\s:|\])>}]|$)` + // MPI's job and rank
	`|(?:^|[\s|])([^\s|\[(<{]*` + word + `[^\s|]*\d[^\s|]*?):*(?:[\s|]|$)` +
	`|(` + word + ` \d+)[:|\]]` +
	`|^(` + word + ` \d+)$` +
	`|^([^\s:]*[a-z][^\s:]*[./\d][^\s:]*|\d+(?:\.\d+){3}):(?:\d+:)?$` +
	`|(?:^|\s)([a-z][\w.-]*\[\d+\]):` +
	`|(?:^|\s)([a-z][\w.-]*) *\|$` +
	`|\s(\d{2,7})[-| ]+(?:debug|info|warning|error)\b` +
	`|^[iwef]\d{4} [\d:.]+ (\d+) \S+:\d+\]$`)

// process returns the name of the process in a line's prefix, and the text after it. The name is empty
// if the prefix names none: it may be a time.
func process(prefix []byte) (name, after []byte) {
	const longest = 64
	at := named().FindSubmatchIndex(prefix)
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 && at[i+1]-at[i] <= longest {
			return prefix[at[i]:at[i+1]], bytes.TrimLeft(prefix[at[i+1]:], "])>}:| \t")
		}
	}
	return nil, prefix
}
