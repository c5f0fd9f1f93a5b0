package trace

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// A message is the kind of one line of the log.
type message uint8

const (
	unknown      message = iota
	blank                // a line without a message
	enter                // in a function
	enterWrap            // in THPStorage_Wrap, or a function that it calls to make an object
	enterDealloc         // in THPStorage_subclass_dealloc
	firstPrinted         // the first of those with a form
)

// The printed messages by their forms: & is an address, ^ that of an interpreter, # a use count, % the name of a type
// and @ a word. After a ? the text may end, unless a comma follows. Text after a message is other output in the line.
var (
	storageData    = printed("storage data: &")
	borrowed       = printed("is borrowed") // the object does not own its impl
	notHermetic    = printed("not hermetic")
	isHermetic     = printed("hermetic")
	handed         = printed("type_name: %, PyObject*: &")
	implData       = printed("c10::Storage data: &?, use_count:#")
	notDeallocated = printed("c10::Storage is referenced elsewhere") // so cannot deallocate
	created        = printed("created @ PyObject of type % at &")
	useCount       = printed("storage.use_count:#")
	preserving     = printed("preserving PyObject")
	deallocating   = printed("deallocating @ PyObject")
	slotPoints     = printed("PyObjectSlot points to PyObject at &")
	slotType       = printed("PyObjectSlot's PyObject type: %")
	slotEmpty      = printed("PyObjectSlot is empty?, use_count:#")
	slotOwns       = printed("PyObjectSlot owns PyObject")
	slotHasNone    = printed("PyObjectSlot does not have PyObject")
	slotHas        = printed("PyObjectSlot has PyObject, interpreter: ^, PyObject*: &")
	slotDiffers    = printed("PyObjectSlot has a different PyObject: &?, storage.use_count:#")
	objectType     = printed("PyObject type: %")
	resurrecting   = printed("PyObject was preserved, resurrecting")
	incrementing   = printed("PyObject was alive, incrementing")
	slotNull       = printed("PyObject is null")
	foreign        = printed("PyObject managed by different interpreter")
	notMarked      = printed("kHasPyObject is not set")
	allocated      = printed("allocated") // memory for an object: an earlier one at its address has ended
	version        = printed("PyTorch %")
	detail         = printed("has PyObject", "creating PyObject of type ", "PyObjectSlot does not own PyObject",
		"maybe uninitialized", "definitely uninitialized", "kHasPyObject is set") // nothing new
)

var forms []form

type form struct {
	text    string
	message message
}

// printed returns a new message.
func printed(texts ...string) message {
	m := firstPrinted
	if n := len(forms); n > 0 {
		m = forms[n-1].message + 1
	}
	for _, text := range texts {
		forms = append(forms, form{text, m})
	}
	return m
}

// A logRecord is one parsed line of the log. Its slices alias the line.
type logRecord struct {
	subject LifeKind
	addr    Address
	interp  Address // of the subject
	message message
	ref     Address
	tag     Address
	count   int64 // a use count, or NoCount
	typ     []byte
	cut     bool // the last line, which may be truncated
}

// digits reads a number of at most 15 digits, and returns the rest.
func digits(s []byte) (n int64, rest []byte) {
	i := 0
	for ; i < min(len(s), 15) && '0' <= s[i] && s[i] <= '9'; i++ {
		n = n*10 + int64(s[i]-'0')
	}
	return n, s[i:]
}

// ownNumber returns the number at the start of a line, and the rest.
func ownNumber(line []byte) (n int64, rest []byte, ok bool) {
	text := bytes.TrimLeft(line, " \t>[")
	n, after := digits(text)
	rest = bytes.TrimLeft(after, " \t:|]")
	_, next := digits(rest) // 12:30:01 is not a number
	if len(after) == len(text) || len(rest) == len(after) || len(next) < len(rest) {
		return 0, line, false
	}
	return n, rest, true
}

// onlyNumber reads a number followed only by blanks.
func onlyNumber(s []byte) (n int64, ok bool) {
	text := bytes.TrimLeft(s, " \t>")
	n, after := digits(text)
	return n, len(after) < len(text) && len(bytes.TrimLeft(after, " \t:|")) == 0
}

// tag matches "[path/file.ext:LINE]", which another thread's line may cut off before.
var tag = lazily(`\[[^\[\] ]+\.[^\[\] .]{0,4}:[0-9]+\]`)

// lazily compiles a regular expression when it is first used.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// findTag returns the start and the end of a tag; -1 without one.
func findTag(s []byte) (begin, end int) {
	if at := tag().FindIndex(s); at != nil {
		return at[0], at[1]
	}
	return -1, -1
}

// parse reads the text after a tag, up to the end of the line. It returns false for an unknown message.
func parse(s []byte, r *logRecord) bool {
	*r = logRecord{count: NoCount}
	r.message = r.messageOf(afterSubject(s, r))
	return r.message != unknown
}

// afterSubject reads the subject, if there is one, and returns the message.
func afterSubject(s []byte, r *logRecord) []byte {
	s = bytes.TrimSpace(s)
	if end := bytes.IndexByte(s, ')'); end > 0 && s[0] == '(' && parseSubject(s[1:end], r) {
		s = bytes.TrimLeft(bytes.TrimPrefix(s[end+1:], []byte(",")), " \t")
	}
	return s
}

func parseSubject(s []byte, r *logRecord) bool {
	rest := s
	switch {
	case len(s) == 0:
		return true
	case eat(&rest, "tensor PyObject: "):
		r.subject = Tensor
	case eat(&rest, "PyObject: "):
		r.subject = Object
	default:
		r.subject = Impl
	}
	if !eatAddress(&rest, &r.addr) || eat(&rest, ", interpreter: ") && !eatAddress(&rest, &r.interp) || len(rest) > 0 {
		*r = logRecord{count: NoCount}
		return false
	}
	return true
}

func eat(s *[]byte, prefix string) (ok bool) {
	*s, ok = bytes.CutPrefix(*s, []byte(prefix))
	return ok
}

// eatAddress reads an address as C++ prints it: 0x7f..., 0 or, elsewhere, digits without 0x and (nil).
func eatAddress(s *[]byte, to *Address) bool {
	b := *s
	if eat(&b, "(nil)") {
		*s, *to = b, 0
		return true
	}
	lower := eat(&b, "0x")
	eat(&b, "0X")
	n, v := 0, Address(0)
	for ; n < min(len(b), 16); n++ {
		d := strings.IndexByte("0123456789abcdefABCDEF", b[n])
		if d < 0 || lower && d > 15 {
			break
		}
		v = v<<4 | Address(d-d/16*6)
	}
	if n == 0 {
		return false
	}
	if lower && v>>48 != 0 && b[0] != 'f' { // the text after it begins with a digit
		v >>= 4 * (n - userDigits)
		n = userDigits
	}
	*s, *to = b[n:], v
	return true
}

// userDigits is the maximum number of digits of a user-space address.
const userDigits = 12

// eatCount reads "3" or " 3".
func eatCount(s *[]byte, to *int64) bool {
	b := bytes.TrimLeft(*s, " ")
	n, rest := digits(b)
	if len(rest) == len(b) {
		return false
	}
	*s, *to = rest, n
	return true
}

// functions are the parts of functions' names that identify a message "in FUNCTION".
var functions = []form{
	{"_dealloc", enterDealloc}, {"_Wrap", enterWrap}, {"_NewWith", enterWrap}, {"THP", enter}, {"createPyObject", enter},
}

// messageOf reads the text of a message, and sets its values.
func (r *logRecord) messageOf(s []byte) message {
	if len(s) == 0 {
		return blank
	}
	for _, f := range forms {
		if r.fits(s, f.text) {
			return f.message
		}
	}
	if r.subject == Object && strings.HasPrefix("deallocating storage PyObject", string(s)) { // cut off
		return deallocating
	}
	if eat(&s, "in ") {
		name := eatWhile(&s, isWord)
		for _, f := range functions {
			if bytes.Contains(name, []byte(f.text)) {
				return f.message
			}
		}
	}
	return unknown
}

// fits reports whether a text has a form, and sets its values.
func (r *logRecord) fits(s []byte, form string) bool {
	for i := range len(form) {
		ok := true
		switch form[i] {
		case '&':
			ok = eatAddress(&s, &r.ref)
		case '^':
			ok = eatAddress(&s, &r.tag)
		case '#':
			ok = eatCount(&s, &r.count)
		case '%':
			ok = eatType(&s, r, i == len(form)-1)
		case '@':
			ok = len(eatWhile(&s, isWord)) > 0
		case '?':
			if !bytes.HasPrefix(s, []byte(", ")) {
				return true
			}
		default:
			if ok = len(s) > 0 && s[0] == form[i]; ok {
				s = s[1:]
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// torn reports whether the text is only the beginning of a message, interrupted by other output.
func torn(s []byte) bool {
	s = afterSubject(s, new(logRecord))
	if bytes.HasPrefix(s, []byte("(")) && !bytes.Contains(s, []byte(")")) {
		return true
	}
	begins := func(m string) bool {
		return len(s) > 0 && (strings.HasPrefix(m, string(s)) || strings.HasPrefix(string(s), m))
	}
	for _, f := range forms {
		if fixed := strings.IndexAny(f.text+"&", "&^#%@?"); f.message != detail && begins(f.text[:fixed]) {
			return true
		}
	}
	return begins("in THPStorage_")
}

// knownType returns the length of a known type's name, which other output may follow without a blank.
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

var storageTypes = []string{
	"torch.storage.UntypedStorage", "torch.UntypedStorage", "torch.StorageBase", "torch._C.StorageBase", "UntypedStorage",
}

// eatType reads a type's name, the last of the message or one that more text follows.
func eatType(s *[]byte, r *logRecord, last bool) bool {
	r.typ = eatWhile(s, func(c rune) bool { return isWord(c) || strings.ContainsRune(".-+<>", c) })
	if last {
		r.typ = r.typ[:knownType(r.typ)]
	}
	return len(r.typ) > 0
}

// eatWhile reads the characters of a kind.
func eatWhile(s *[]byte, is func(rune) bool) []byte {
	all := *s
	*s = bytes.TrimLeftFunc(all, is)
	return all[:len(all)-len(*s)]
}

// isWord reports whether a character may be in an identifier.
func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// parseCut reads the truncated last line of a log. It returns false for a line that is complete: nothing is missing
// that could change its meaning. Of a message that is known by its beginning, addresses and counts are dropped, since
// they may be truncated.
func parseCut(s []byte, r *logRecord) bool {
	if !parse(s, r) {
		return false
	}
	switch r.message {
	case enter, enterWrap, enterDealloc, blank:
		return false
	case slotHas, slotDiffers, useCount, implData, slotPoints, handed:
		r.cut = true
	}
	return true
}
