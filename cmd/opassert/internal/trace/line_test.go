package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOwnNumber(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int64
		rest string
		ok   bool
	}{
		{"1795 [a.cpp:1] (0x1) x", 1795, "[a.cpp:1] (0x1) x", true},
		{"  1795\t[a.cpp:1]", 1795, "[a.cpp:1]", true},
		{"1795:[a.cpp:1]", 1795, "[a.cpp:1]", true},
		{"> 1795 | [a.cpp:1]", 1795, "[a.cpp:1]", true},
		{"1 CHRONOS:81064802277542806", 1, "CHRONOS:81064802277542806", true},
		{"[17] [a.cpp:1]", 17, "[a.cpp:1]", true},
		{"[1,3]<stdout>: [a.cpp:1]", 0, "[1,3]<stdout>: [a.cpp:1]", false},
		{"[a.cpp:1]", 0, "[a.cpp:1]", false},
		{"10:12:54 [a.cpp:1]", 0, "10:12:54 [a.cpp:1]", false},
		{"2023-08-08 [a.cpp:1]", 0, "2023-08-08 [a.cpp:1]", false},
		{"1234567890123456 [a.cpp:1]", 0, "1234567890123456 [a.cpp:1]", false},
		{"17", 0, "17", false},
		{": x", 0, ": x", false},
		{"", 0, "", false},
	} {
		n, rest, ok := ownNumber([]byte(tt.in))
		if n != tt.n && ok || string(rest) != tt.rest || ok != tt.ok {
			t.Errorf("ownNumber(%q) = %d, %q, %t", tt.in, n, rest, ok)
		}
	}
}

func TestOnlyNumber(t *testing.T) {
	for _, tt := range []struct {
		in string
		n  int64
		ok bool
	}{{"17", 17, true}, {"> 17 |", 17, true}, {"17x", 17, false}, {"17:18", 17, false}, {"1234567890123456", 123456789012345, false}, {"|", 0, false}, {"", 0, false}} {
		if n, ok := onlyNumber([]byte(tt.in)); n != tt.n || ok != tt.ok {
			t.Errorf("onlyNumber(%q) = %d, %t", tt.in, n, ok)
		}
	}
}

func TestFindTag(t *testing.T) {
	for _, tt := range []struct{ in, tag string }{
		{"[torch/csrc/Storage.cpp:107] (0x1) x", "[torch/csrc/Storage.cpp:107]"},
		{"[rank0]: [torch/csrc/Storage.cpp:107] (0x1) x", "[torch/csrc/Storage.cpp:107]"},
		{"\x1b[32m[Storage.cpp:107]\x1b[0m x", "[Storage.cpp:107]"},
		{"[torch/csrc/Stora[torch/csrc/Storage.cpp:1] x", "[torch/csrc/Storage.cpp:1]"},
		{"[c10/core/impl/PyObjectSlot.h:12]", "[c10/core/impl/PyObjectSlot.h:12]"},
		{"[W socket.cpp:601] x", ""},
		{"[a.cpp: 1]", ""}, {"[a.cpp=12]", ""}, {"[a.words:1]", ""}, {"[my file.cpp:1]", ""},
		{"[1]", ""}, {"[a:1]", ""}, {"[.cpp:1]", ""}, {"[a.cpp:]", ""}, {"[a.cpp:1", ""}, {"", ""},
		{"I0808 10:12:54.887000 227 logging.py:31] my build_rule", ""},
	} {
		tag := ""
		if begin, end := findTag([]byte(tt.in)); begin >= 0 {
			tag = tt.in[begin:end]
		}
		if tag != tt.tag {
			t.Errorf("findTag(%q) = %q, want %q", tt.in, tag, tt.tag)
		}
	}
}

// The lines of the patched functions, and how they are read.
func TestParse(t *testing.T) {
	const d, x, i = 0x7f01fc69b600, 0x7f00df0a2340, 0x7f026b8c6160
	untyped := []byte(untyped)
	for _, tt := range []struct {
		in   string
		want logRecord
	}{
		{"(tensor PyObject: 0x7f00df0a2340) in THPVariable_storage", logRecord{subject: Tensor, addr: x, message: enter, count: -1}},
		{"(tensor PyObject: 0x7f00df0a2340) storage data: 0x7f01fc69b600", logRecord{subject: Tensor, addr: x, message: storageData, ref: d, count: -1}},
		{"(tensor PyObject: 0x7f00df0a2340) storage data: 0", logRecord{subject: Tensor, addr: x, message: storageData, count: -1}},
		{"(0x7f01fc69b600, interpreter: 0x7f026b8c6160) in createPyObject", logRecord{subject: Impl, addr: d, interp: i, message: enter, count: -1}},
		{"(0, interpreter: 0x7f026b8c6160) in THPStorage_Wrap", logRecord{subject: Impl, interp: i, message: enterWrap, count: -1}},
		{"(0x7f01fc69b600) ", logRecord{subject: Impl, addr: d, message: blank, count: -1}},
		{"(0x7f01fc69b600)", logRecord{subject: Impl, addr: d, message: blank, count: -1}},
		{"()", logRecord{message: blank, count: -1}},
		{"() in THPStorage_Wrap", logRecord{message: enterWrap, count: -1}},
		{"in THPStorage_Wrap", logRecord{message: enterWrap, count: -1}},
		{"", logRecord{message: blank, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot is empty, use_count:3", logRecord{subject: Impl, addr: d, message: slotEmpty, count: 3}},
		{"(0x7f01fc69b600) PyObjectSlot is empty", logRecord{subject: Impl, addr: d, message: slotEmpty, count: -1}},
		{"(0x7f01fc69b600) maybe uninitialized", logRecord{subject: Impl, addr: d, message: detail, count: -1}},
		{"(0x7f01fc69b600) definitely uninitialized", logRecord{subject: Impl, addr: d, message: detail, count: -1}},
		{"(0x7f01fc69b600) in THPStorage_NewWithStorage, arg type->tp_name: torch.storage.UntypedStorage", logRecord{subject: Impl, addr: d, message: enterWrap, count: -1}},
		{"(0x7f01fc69b600), creating PyObject of type torch.storage.UntypedStorage", logRecord{subject: Impl, addr: d, message: detail, count: -1}},
		{"(0x7f01fc69b600), created storage PyObject of type torch.storage.UntypedStorage at 0x7f00df0a2340", logRecord{subject: Impl, addr: d, message: created, typ: untyped, ref: x, count: -1}},
		{"(0x7f01fc69b600), not hermetic", logRecord{subject: Impl, addr: d, message: notHermetic, count: -1}},
		{"(0x7f01fc69b600), hermetic", logRecord{subject: Impl, addr: d, message: isHermetic, count: -1}},
		{"(PyObject: 0x7f00df0a2340) hermetic", logRecord{subject: Object, addr: x, message: isHermetic, count: -1}},
		{"(0x7f01fc69b600) type_name: torch.storage.UntypedStorage, PyObject*: 0x7f00df0a2340", logRecord{subject: Impl, addr: d, message: handed, typ: untyped, ref: x, count: -1}},
		{"(0x7f01fc69b600) has PyObject", logRecord{subject: Impl, addr: d, message: detail, count: -1}},
		{"(0x7f01fc69b600) PyObject is null", logRecord{subject: Impl, addr: d, message: slotNull, count: -1}},
		{"(0x7f01fc69b600) PyObject managed by different interpreter", logRecord{subject: Impl, addr: d, message: foreign, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot points to PyObject at 0x7f00df0a2340", logRecord{subject: Impl, addr: d, message: slotPoints, ref: x, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot's PyObject type: dict", logRecord{subject: Impl, addr: d, message: slotType, typ: []byte("dict"), count: -1}},
		{"(0x7f01fc69b600) PyObject was preserved, resurrecting", logRecord{subject: Impl, addr: d, message: resurrecting, count: -1}},
		{"(0x7f01fc69b600) PyObject was alive, incrementing", logRecord{subject: Impl, addr: d, message: incrementing, count: -1}},
		{"(PyObject: 0x7f00df0a2340, interpreter: 0x7f026b8c6160) in THPStorage_subclass_dealloc", logRecord{subject: Object, addr: x, interp: i, message: enterDealloc, count: -1}},
		{"(PyObject: 0x7f00df0a2340) PyObjectSlot has PyObject, interpreter: 0x7f026b8c6160, PyObject*: 0x7f00df0a2340", logRecord{subject: Object, addr: x, message: slotHas, tag: i, ref: x, count: -1}},
		{"(PyObject: 0x7f00df0a2340) PyObjectSlot does not own PyObject", logRecord{subject: Object, addr: x, message: detail, count: -1}},
		{"(PyObject: 0x7f00df0a2340) PyObjectSlot owns PyObject", logRecord{subject: Object, addr: x, message: slotOwns, count: -1}},
		{"(PyObject: 0x7f00df0a2340) PyObjectSlot does not have PyObject", logRecord{subject: Object, addr: x, message: slotHasNone, count: -1}},
		{"(PyObject: 0x7f00df0a2340, interpreter: 0x7f026b8c6160) in THPStorage_tryPreserve", logRecord{subject: Object, addr: x, interp: i, message: enter, count: -1}},
		{"(PyObject: 0x7f00df0a2340) is borrowed", logRecord{subject: Object, addr: x, message: borrowed, count: -1}},
		{"(PyObject: 0x7f00df0a2340) c10::Storage data: 0x7f01fc69b600", logRecord{subject: Object, addr: x, message: implData, ref: d, count: -1}},
		{"(PyObject: 0x7f00df0a2340) c10::Storage data: 0x7f01fc69b600, use_count: 2", logRecord{subject: Object, addr: x, message: implData, ref: d, count: 2}},
		{"(PyObject: 0x7f00df0a2340) PyObjectSlot has a different PyObject: 0, storage.use_count: 2", logRecord{subject: Object, addr: x, message: slotDiffers, count: 2}},
		{"(PyObject: 0x7f00df0a2340) storage.use_count: 1", logRecord{subject: Object, addr: x, message: useCount, count: 1}},
		{"(PyObject: 0x7f00df0a2340) preserving PyObject", logRecord{subject: Object, addr: x, message: preserving, count: -1}},
		{"(PyObject: 0x7f00df0a2340) PyObject type: torch.storage.UntypedStorage", logRecord{subject: Object, addr: x, message: objectType, typ: untyped, count: -1}},
		{"(PyObject: 0x7f00df0a2340) c10::Storage is referenced elsewhere, so cannot deallocate", logRecord{subject: Object, addr: x, message: notDeallocated, count: -1}},
		{"(PyObject: 0x7f00df0a2340) deallocating storage PyObject", logRecord{subject: Object, addr: x, message: deallocating, count: -1}},
		{"(PyObject: 00007F00DF0A2340) is borrowed", logRecord{subject: Object, addr: x, message: borrowed, count: -1}},
		{"(PyObject: (nil)) is borrowed", logRecord{}},
		{"(PyObject: 0x7f00df0a2340) is borrowed step 7", logRecord{subject: Object, addr: x, message: borrowed, count: -1}},
		{"(0x7f01fc69b600), not hermeticEpoch 3: 0.5", logRecord{subject: Impl, addr: d, message: notHermetic, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot points to PyObject at 0x7f00df0a2340Epoch 3", logRecord{subject: Impl, addr: d, message: slotPoints, ref: x, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot points to PyObject at 0x7f00df0a23407 of 9", logRecord{subject: Impl, addr: d, message: slotPoints, ref: x, count: -1}},
		{"(PyObject: 0x7f00df0a2340) something new", logRecord{}},
		{"(a friend) is borrowed", logRecord{}},
		{"(0x7f01fc69b600) in a hurry", logRecord{}},
		{"(0x7f01fc69b600) PyObjectSlot points to PyObject at ", logRecord{}},
		{"(0x7f01fc69b600) PyObjectSlot is empty, use_count:", logRecord{}},
		{"(0x7f01fc69b600) type_name: torch.storage.UntypedStorage, PyObj", logRecord{}},
		{"(PyObject: 0x7f00df0a2340)", logRecord{subject: Object, addr: x, message: blank, count: -1}},
		{"(PyObject: 0x7f00df0a2340) deallo", logRecord{subject: Object, addr: x, message: deallocating, count: -1}},
		{"(0x7f01fc69b600) deallo", logRecord{}},
		{"(0x7f01fc69b600) THPStorage_Wrap", logRecord{}},
		{"x) is borrowed", logRecord{}},
		{"(PyObject: ) is borrowed", logRecord{}},
		{"(0x7f01fc69b600, interpreter: ) hermetic", logRecord{}},
		{"(tensor PyObject: 0x7f00df0a2340) storage data: (nil)", logRecord{subject: Tensor, addr: x, message: storageData, count: -1}},
		{"(tensor PyObject: 0x7f00df0a2340) storage data: x", logRecord{}},
		{"(PyObject: 0X7F00DF0A2340) is borrowed", logRecord{subject: Object, addr: x, message: borrowed, count: -1}},
		{"(PyObject: 0x00007f00df0a2340) is borrowed", logRecord{subject: Object, addr: x, message: borrowed, count: -1}},
		{"(PyObject: 1234567890ABCDEF) is borrowed", logRecord{subject: Object, addr: 0x1234567890abcdef, message: borrowed, count: -1}},
		{"(PyObject: 0xffff80001234567a) is borrowed", logRecord{subject: Object, addr: 0xffff80001234567a, message: borrowed, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot points to PyObject at 0x7f00df0a23Epoch", logRecord{subject: Impl, addr: d, message: slotPoints, ref: 0x7f00df0a23, count: -1}},
		{"(PyObject: 0x7f00df0a2340) PyObject type: torch.storage.UntypedStorageEpoch 3", logRecord{subject: Object, addr: x, message: objectType, typ: untyped, count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot's PyObject type: dictEpoch 3", logRecord{subject: Impl, addr: d, message: slotType, typ: []byte("dict"), count: -1}},
		{"(0x7f01fc69b600) PyObjectSlot's PyObject type: mineEpoch 3", logRecord{subject: Impl, addr: d, message: slotType, typ: []byte("mineEpoch"), count: -1}},
		{"(0x7f01fc69b600), created storage2 PyObject of type torch.storage.UntypedStorage2 at 0x7f00df0a2340", logRecord{subject: Impl, addr: d, message: created, typ: []byte("torch.storage.UntypedStorage2"), ref: x, count: -1}},
		{"(0x7f01fc69b600), created a{b PyObject of type T at 0x1", logRecord{}},
		{"(0x7f01fc69b600), created a:b PyObject of type T at 0x1", logRecord{}},
		{"(0x7f01fc69b600), created  PyObject of type T at 0x1", logRecord{}},
		{"(0x7f01fc69b600) type_name: , PyObject*: 0x1", logRecord{}},
		{"PyTorch 2.15.0", logRecord{message: version, typ: []byte("2.15.0"), count: -1}},
	} {
		var got logRecord
		ok := parse([]byte(tt.in), &got)
		if ok != (tt.want.message != unknown) {
			t.Errorf("parse(%q) = %t", tt.in, ok)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(logRecord{})); ok && diff != "" {
			t.Errorf("parse(%q) (-want +got)\n%s", tt.in, diff)
		}
	}
}

func TestTorn(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want bool
	}{
		{"(PyObject: 0x7f00df0a2340) deallocating sto", true},
		{"(PyObject: 0x7f00df", true},
		{"(0x7f01fc69b600) type_name: torch.storage.UntypedStorage, PyObj", true},
		{"(0x7f01fc69b600), created storage PyObject of type T at", true},
		{"(PyObject: 0x7f00df0a2340) checking the moon", false},
		{"(PyObject: 0x7f00df0a2340) dealloc", true},
		{"in THPStor", true},
		{"checking", false},
		{"(a friend) is borr", false},
		{"(0x7f01fc69b600) maybe un", false},
		{"() preserving", true},
		{"(PyObject: 0x7f00df0a2340) ", false},
	} {
		if got := torn([]byte(tt.in)); got != tt.want {
			t.Errorf("torn(%q) = %t", tt.in, got)
		}
	}
}

// Addresses and counts of a truncated last line may be truncated.
func TestParseCut(t *testing.T) {
	for _, tt := range []struct {
		in        string
		read, cut bool
	}{
		{"(PyObject: 0x10) is borr", false, false},
		{"(PyObject: 0x10) is borrowed", true, false},
		{"(0x10) in THPStorage_Wrap", false, false},
		{"(PyObject: 0x10) storage.use_count: 1", true, true},
	} {
		var r logRecord
		if read := parseCut([]byte(tt.in), &r); read != tt.read || r.cut != tt.cut {
			t.Errorf("%q: read %t, cut %t", tt.in, read, r.cut)
		}
	}
}

// The names that launchers put before the lines of a process.
func TestProcess(t *testing.T) {
	for _, tt := range []struct{ prefix, name, after string }{
		{"[rank0]: ", "rank0", ""},
		{"[default1]:17 ", "default1", "17 "},
		{"(rank 2) ", "rank 2", ""},
		{"[1,3]<stdout>: ", "1,3", "<stdout>: "},
		{"worker-4 | 17", "worker-4", "17"},
		{"10:12:54 pid=17 ", "pid=17", ""},
		{"Rank 0: 5", "Rank 0", "5"},
		{"gpu3: 5", "gpu3", "5"},
		{"[pod/trainer-0/main] x", "pod/trainer-0/main", "x"},
		{"my rank 0", "", "my rank 0"},
		{"rank 0", "rank 0", ""},
		{"logs/0.log:", "logs/0.log", ""},
		{"logs/0.log:17:", "logs/0.log", "17:"},
		{"10.0.0.1:", "10.0.0.1", ""},
		{"Jan 02 10:00:00 host python3[42]:", "python3[42]", ""},
		{"10:00:00 web.1   |", "web.1", ""},
		{"2024-01-02 10:00:00,123 4242 INFO", "4242", "INFO"},
		{"I0808 10:12:54.328000 4242 driver.py:76]", "4242", "driver.py:76]"},
		{"2024-01-02 10:00:00,123 INFO", "", "2024-01-02 10:00:00,123 INFO"},
		{"INFO:", "", "INFO:"},
		{"worker-4|17", "worker-4", "17"},
		{"(x) rank 0: 5", "rank 0", "5"},
		{"2024 rank3: 5", "rank3", "5"},
		{"2024-01-02 10:00:00,123 ", "", "2024-01-02 10:00:00,123 "},
		{"2rank ", "", "2rank "},
		{"rank ", "", "rank "},
		{"x,3 ", "", "x,3 "}, {"3,x ", "", "3,x "}, {",3 ", "", ",3 "}, {"3, ", "", "3, "}, {"3 ", "", "3 "}, {"1:2,3 ", "", "1:2,3 "}, {"1/2,3 ", "", "1/2,3 "},
		{"[a rank x", "", "[a rank x"},
		{"...", "", "..."},
		{"rank" + strings.Repeat("x", 60) + "1 ", "", "rank" + strings.Repeat("x", 60) + "1 "},
		{"rank" + strings.Repeat("x", 59) + "1 ", "rank" + strings.Repeat("x", 59) + "1", ""},
	} {
		if name, after := process([]byte(tt.prefix)); string(name) != tt.name || string(after) != tt.after {
			t.Errorf("process(%q) = %q, %q, want %q, %q", tt.prefix, name, after, tt.name, tt.after)
		}
	}
}

// Two threads print into one line.
func TestBrokenInto(t *testing.T) {
	report, lives := follow("[a.cpp:1] (PyObject: 0x10) is borrowed[b.cpp:2] (0x20), created storage PyObject of type T at 0x30\n" +
		"[a.cpp:1][b.cpp:2] (0x20), not hermetic\n" +
		"[a.cpp:1] (PyObject: 0x10) deallo[b.cpp:2] (0x20) type_name: T, PyObject*: 0x30\n")
	if report.Records != 6 || report.Unknown != 0 {
		t.Errorf("%d records, %d unknown", report.Records, report.Unknown)
	}
	var got []string
	for _, l := range lives {
		for _, e := range l.Events {
			got = append(got, l.Kind.String()+" "+l.Address.String()+" "+e.String())
		}
	}
	want := []string{
		"object 0x10 first seen; made where the log does not show it",
		"object 0x10 its impl is freed and releases it",
		"object 0x10 deallocated", // whatever follows the interruption
		"object 0x30 created for impl 0x20",
		"object 0x30 made outside hermetic contexts",
		"impl 0x20 gets object 0x30",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
