package trace

import (
	"bytes"
	"strings"
	"unicode"
)

// A message is the kind of one line of the log.
type message uint8

const (
	unknown      message = iota
	blank                // a line without a message
	enter                // in some function
	enterWrap            // in THPStorage_Wrap, or a function that it calls to make an object
	enterDealloc         // in THPStorage_subclass_dealloc
	storageData          // a tensor's storage data: ref
	slotEmpty            // PyObjectSlot is empty, use_count: count
	detail               // known, and says nothing that other lines do not
	created              // created storage PyObject of type typ at ref
	notHermetic          //
	isHermetic           //
	slotPoints           // PyObjectSlot points to PyObject at ref
	slotType             // PyObjectSlot's PyObject type: typ
	resurrecting         // PyObject was preserved, resurrecting
	incrementing         // PyObject was alive, incrementing
	slotNull             // PyObject is null
	foreign              // PyObject managed by different interpreter
	handed               // type_name: typ, PyObject*: ref
	implData             // c10::Storage data: ref[, use_count: count]
	preserving           //
	objectType           // PyObject type: typ
	slotOwns             //
	slotHasNone          // PyObjectSlot does not have PyObject
	slotHas              // PyObjectSlot has PyObject, interpreter: tag, PyObject*: ref
	slotDiffers          // PyObjectSlot has a different PyObject: ref, storage.use_count: count
	useCount             // storage.use_count: count
	borrowed             // the object does not own its impl
	keptAnyway           // c10::Storage is referenced elsewhere, so cannot deallocate
	deallocating         //
	allocated            // memory for an object: an earlier one there is gone
	version              // PyTorch typ
	notMarked            // kHasPyObject is not set
)

type subject uint8

const (
	noSubject subject = iota
	ofImpl
	ofObject
	ofTensor
)

// A record is one line of the log, taken apart. Its slices are the line's.
type record struct {
	subject subject
	addr    uint64
	interp  uint64 // of the subject
	message message
	ref     uint64
	tag     uint64
	count   int64 // a use count, or NoCount
	typ     []byte
	cut     bool // the last line, whose end may be missing
}

// ownNumber returns the number that a line begins with, and the rest.
func ownNumber(line []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '>') {
		i++
	}
	start := i
	for i < len(line) && '0' <= line[i] && line[i] <= '9' {
		n = n*10 + int64(line[i]-'0')
		i++
	}
	if i == start || i-start > 15 || i == len(line) {
		return 0, line, false
	}
	end := i
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == ':' || line[i] == '|') {
		i++
	}
	if i == end || i < len(line) && '0' <= line[i] && line[i] <= '9' { // 12:30:01 is not a number
		return 0, line, false
	}
	return n, line[i:], true
}

// onlyNumber reads a number followed only by blanks.
func onlyNumber(s []byte) (n int64, ok bool) {
	s = bytes.TrimRight(bytes.TrimLeft(s, " \t>"), " \t:|")
	if len(s) == 0 || len(s) > 15 || !allDigits(s) {
		return 0, false
	}
	for _, c := range s {
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// findTag finds "[path/file.ext:LINE]" and returns where it begins and ends; -1
// without one.
func findTag(s []byte) (begin, end int) {
	for at := 0; ; {
		i := bytes.IndexByte(s[at:], '[')
		if i < 0 {
			return -1, -1
		}
		begin = at + i
		n := bytes.IndexByte(s[begin:], ']')
		if n < 0 {
			return -1, -1
		}
		end = begin + n + 1
		inner := s[begin+1 : end-1]
		if j := bytes.LastIndexByte(inner, '['); j >= 0 { // cut off by another thread's line
			begin += 1 + j
			inner = inner[j+1:]
		}
		if isTag(inner) {
			return begin, end
		}
		at = end
	}
}

// isTag reports whether s is "path/file.ext:LINE".
func isTag(s []byte) bool {
	i := len(s)
	for i > 0 && '0' <= s[i-1] && s[i-1] <= '9' {
		i--
	}
	if i == len(s) || i < 4 || s[i-1] != ':' {
		return false
	}
	name := s[:i-1]
	if dot := bytes.LastIndexByte(name, '.'); dot <= 0 || len(name)-dot > 5 {
		return false
	}
	return bytes.IndexByte(name, ' ') < 0
}

// parse reads the text after a tag, up to the end of the line. It returns false for a
// record whose message is not known.
func parse(s []byte, r *record) bool {
	*r = record{count: NoCount}
	s = bytes.TrimSpace(s)
	if len(s) > 0 && s[0] == '(' {
		if end := bytes.IndexByte(s, ')'); end > 0 && parseSubject(s[1:end], r) {
			s = s[end+1:]
			if len(s) > 0 && s[0] == ',' {
				s = s[1:]
			}
			for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
				s = s[1:]
			}
		}
	}
	return parseMessage(s, r)
}

func parseSubject(s []byte, r *record) bool {
	rest := s
	switch {
	case len(s) == 0:
		return true
	case eat(&rest, "tensor PyObject: "):
		r.subject = ofTensor
	case eat(&rest, "PyObject: "):
		r.subject = ofObject
	default:
		r.subject = ofImpl
	}
	if !eatAddress(&rest, &r.addr) || eat(&rest, ", interpreter: ") && !eatAddress(&rest, &r.interp) || len(rest) > 0 {
		*r = record{count: NoCount}
		return false
	}
	return true
}

func eat(s *[]byte, prefix string) bool {
	if len(*s) < len(prefix) || string((*s)[:len(prefix)]) != prefix {
		return false
	}
	*s = (*s)[len(prefix):]
	return true
}

// eatAddress reads what C++ prints for a pointer: 0x7f..., 0 or, elsewhere,
// digits without 0x and (nil).
func eatAddress(s *[]byte, to *uint64) bool {
	b := *s
	if eat(&b, "(nil)") {
		*s, *to = b, 0
		return true
	}
	lower := false
	if len(b) > 2 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X') {
		lower, b = b[1] == 'x', b[2:]
	}
	var v uint64
	i := 0
	for ; i < len(b) && i < 16; i++ {
		d, ok := hexDigit(b[i])
		if !ok || lower && 'A' <= b[i] && b[i] <= 'F' {
			break
		}
		v = v<<4 | uint64(d)
	}
	if i == 0 {
		return false
	}
	if lower && i > userDigits && v>>48 != 0 && b[0] != 'f' { // the text after it begins with a digit
		v >>= 4 * (i - userDigits)
		i = userDigits
	}
	*s, *to = b[i:], v
	return true
}

// userDigits is how many digits an address has at most in a program, on the
// processors that PyTorch runs on.
const userDigits = 12

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// eatCount reads "use_count:3" or "use_count: 3".
func eatCount(s *[]byte, to *int64) bool {
	b := *s
	if !eat(&b, "use_count:") {
		return false
	}
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	var v int64
	i := 0
	for ; i < len(b) && i < 18 && '0' <= b[i] && b[i] <= '9'; i++ {
		v = v*10 + int64(b[i]-'0')
	}
	if i == 0 {
		return false
	}
	*s, *to = b[i:], v
	return true
}

// parseMessage recognizes messages by their first words. Text after a message is other
// output in the same line.
func parseMessage(s []byte, r *record) bool {
	r.message = readMessage(&s, r)
	if r.message == blank && len(s) > 0 {
		r.message = unknown
	}
	return r.message != unknown
}

// torn reports whether the text is the beginning of a message, and not a whole one:
// other output broke into it, and the rest is not known.
func torn(s []byte) bool {
	s = bytes.TrimSpace(s)
	if len(s) > 0 && s[0] == '(' && bytes.IndexByte(s, ')') < 0 {
		return true
	}
	var r record
	if end := bytes.IndexByte(s, ')'); len(s) > 0 && s[0] == '(' && parseSubject(s[1:end], &r) {
		s = bytes.TrimLeft(s[end+1:], ", \t")
	}
	for _, m := range beginnings {
		if len(s) > 0 && (strings.HasPrefix(m, string(s)) || strings.HasPrefix(string(s), m)) {
			return true
		}
	}
	return false
}

// The beginnings of messages about where an object is, or its end.
var beginnings = []string{
	"storage data: ", "c10::Storage data: ", "created storage PyObject", "type_name: ", "deallocating storage PyObject", "preserving PyObject",
	"not hermetic", "hermetic", "is borrowed", "PyObjectSlot points to PyObject at ", "PyObjectSlot has ", "PyObjectSlot is empty", "in THPStorage_",
	"PyObject was ", "allocated",
}

func readMessage(s *[]byte, r *record) message {
	b := *s
	if len(b) == 0 {
		return blank
	}
	switch b[0] {
	case 'i':
		switch {
		case eat(s, "is borrowed"):
			return borrowed
		case eat(s, "in "):
			return readFunction(s)
		}
	case 'P':
		if eat(s, "PyTorch ") && eatType(s, r, "") {
			return version
		}
		return readSlot(s, r)
	case 'k':
		switch {
		case eat(s, "kHasPyObject is set"):
			return detail
		case eat(s, "kHasPyObject is not set"):
			return notMarked
		}
	case 's':
		switch {
		case eat(s, "storage data: ") && eatAddress(s, &r.ref):
			return storageData
		case eat(s, "storage.") && eatCount(s, &r.count):
			return useCount
		}
	case 'c':
		switch {
		case eat(s, "c10::Storage data: "):
			if eatAddress(s, &r.ref) && (!eat(s, ", ") || eatCount(s, &r.count)) {
				return implData
			}
		case eat(s, "c10::Storage is referenced elsewhere"):
			*s = nil
			return keptAnyway
		case eat(s, "created "):
			if _, ok := eatWord(s); ok && eat(s, " PyObject of type ") && eatType(s, r, " at ") && eatAddress(s, &r.ref) {
				return created
			}
		case eat(s, "creating PyObject of type "):
			*s = nil
			return detail
		}
	case 'n':
		if eat(s, "not hermetic") {
			return notHermetic
		}
	case 'h':
		switch {
		case eat(s, "hermetic"):
			return isHermetic
		case eat(s, "has PyObject"):
			return detail
		}
	case 't':
		if eat(s, "type_name: ") && eatType(s, r, ", PyObject*: ") && eatAddress(s, &r.ref) {
			return handed
		}
	case 'a':
		if eat(s, "allocated") {
			return allocated
		}
	case 'p':
		if eat(s, "preserving PyObject") {
			return preserving
		}
	case 'd':
		const goes = "deallocating storage PyObject"
		if r.subject == ofObject && len(b) < len(goes) && goes[:len(b)] == string(b) { // cut off
			*s = nil
			return deallocating
		}
		switch {
		case eat(s, "deallocating "):
			if _, ok := eatWord(s); ok && eat(s, " PyObject") {
				return deallocating
			}
		case eat(s, "definitely uninitialized"):
			return detail
		}
	case 'm':
		if eat(s, "maybe uninitialized") {
			return detail
		}
	}
	return unknown
}

// readFunction reads the text after "in".
func readFunction(s *[]byte) message {
	name, ok := eatWord(s)
	if !ok {
		return unknown
	}
	if eat(s, ", arg ") { // ..., arg type->tp_name: T
		*s = nil
	}
	switch {
	case bytes.Contains(name, []byte("_dealloc")):
		return enterDealloc
	case bytes.Contains(name, []byte("_Wrap")), bytes.Contains(name, []byte("_NewWith")):
		return enterWrap
	case bytes.HasPrefix(name, []byte("THP")), bytes.HasPrefix(name, []byte("createPyObject")):
		return enter
	}
	return unknown
}

// readSlot reads the messages that begin with PyObject.
func readSlot(s *[]byte, r *record) message {
	switch {
	case eat(s, "PyObjectSlot"):
		switch {
		case eat(s, " points to PyObject at ") && eatAddress(s, &r.ref):
			return slotPoints
		case eat(s, "'s PyObject type: ") && eatType(s, r, ""):
			return slotType
		case eat(s, " is empty"):
			if !eat(s, ", ") || eatCount(s, &r.count) {
				return slotEmpty
			}
		case eat(s, " does not own PyObject"):
			return detail
		case eat(s, " owns PyObject"):
			return slotOwns
		case eat(s, " does not have PyObject"):
			return slotHasNone
		case eat(s, " has PyObject"):
			if eat(s, ", interpreter: ") && eatAddress(s, &r.tag) && eat(s, ", PyObject*: ") && eatAddress(s, &r.ref) {
				return slotHas
			}
		case eat(s, " has a different PyObject: ") && eatAddress(s, &r.ref):
			if !eat(s, ", storage.") || eatCount(s, &r.count) {
				return slotDiffers
			}
		}
	case eat(s, "PyObject type: ") && eatType(s, r, ""):
		return objectType
	case eat(s, "PyObject was preserved, resurrecting"):
		return resurrecting
	case eat(s, "PyObject was alive, incrementing"):
		return incrementing
	case eat(s, "PyObject is null"):
		return slotNull
	case eat(s, "PyObject managed by different interpreter"):
		return foreign
	}
	return unknown
}

// knownType returns how long the name of a type is that other output may follow
// without a blank: the names that are looked for are known.
func knownType(s []byte) int {
	for _, t := range storageTypes {
		if bytes.HasPrefix(s, []byte(t)) {
			return len(t)
		}
	}
	n := bytes.IndexFunc(s, unicode.IsUpper)
	if n > 0 && foreignType(string(s[:n])) {
		return n
	}
	return len(s)
}

var storageTypes = []string{"torch.storage.UntypedStorage", "torch.UntypedStorage", "torch.StorageBase", "torch._C.StorageBase", "UntypedStorage"}

// eatType reads a type's name and the text that follows it.
func eatType(s *[]byte, r *record, then string) bool {
	end := bytes.IndexFunc(*s, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.-+<>", c)
	})
	if end < 0 {
		end = len(*s)
	}
	if then == "" {
		end = knownType((*s)[:end])
	}
	r.typ, *s = (*s)[:end], (*s)[end:]
	return end > 0 && eat(s, then)
}

// eatWord reads an identifier.
func eatWord(s *[]byte) (word []byte, ok bool) {
	i := 0
	for ; i < len(*s); i++ {
		if c := (*s)[i]; !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			break
		}
	}
	word, *s = (*s)[:i], (*s)[i:]
	return word, i > 0
}

// parseCut reads the last line of a log that is cut off. It returns false for a line
// that can be read as a whole one: nothing is missing that could change its meaning. Of
// a message that is known by its beginning, addresses and counts are dropped, since they
// may be cut.
func parseCut(s []byte, r *record) bool {
	if parse(s, r) {
		switch r.message {
		case enter, enterWrap, enterDealloc, blank:
			return false
		case slotHas, slotDiffers, useCount, implData, slotPoints, handed:
			r.cut = true
		}
		return true
	}
	return false
}
