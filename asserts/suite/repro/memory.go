package repro

import (
	"errors"
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts"
)

// A sight is how a program sees what a call does to memory. The call is made several times,
// each time with another byte where it may not look.
type sight struct {
	heap  bool   // the byte is in memory that is allocated, or was freed
	walls bool   // it is beside the storages of arguments
	left  bool   // it is where the arguments of earlier calls were
	fault string // an expression that is true where the rule is broken
	says  string // the fault then
}

const (
	strays  = "any(strays for strays, _ in seen)"
	follows = "seen[0] == seen[3] != seen[1] == seen[2]" // the byte, and nothing else
)

var sights = map[asserts.Code]sight{
	asserts.OutOfBounds: {
		walls: true, fault: strays + " or " + follows,
		says: "bytes beside {x} are written, or the results follow them",
	},
	asserts.UseAfterFree: {
		heap: true, left: true, fault: strays + " or " + follows,
		says: "memory that was freed is written, or the results follow it",
	},
	asserts.UninitialisedResult: {
		heap: true, fault: follows,
		says: "{x} follows what its memory held before the call",
	},
	asserts.NondeterministicResult: {
		heap: true, fault: "seen[0] != seen[3] or seen[1] != seen[2]",
		says: "{x} differs between calls with the same values and the same seed",
	},
}

// slowHeap starts Python anew without the cache of freed memory, which malloc does not fill.
const slowHeap = `if "tcache" not in os.environ.get("GLIBC_TUNABLES", ""):
    os.environ["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0"
    os.execv(sys.executable, [sys.executable, *sys.argv])
`

// inMemory returns what calls an op in memory that holds several bytes in turn.
func (k *call) inMemory(s sight, p asserts.Place) (func(way) string, error) {
	x := ""
	switch place, err := k.place(p); {
	case err == nil && p.Name != "":
		x = place
	case s.walls:
		return nil, errors.New("the memory is none of the arguments', and no bytes of Python's lie beside it")
	case !s.left:
		return nil, errors.Join(err, errors.New("nothing says which tensor it is about"))
	}
	if s.walls && p.Return {
		return nil, errors.New("the call allocates that memory, and no bytes of Python's lie beside it")
	}
	says := strings.ReplaceAll(s.says, "{x}", x)
	return func(w way) string {
		made := "seen = [call(byte) for byte in (0x5A, 0x5A, 0xA6, 0xA6, 0x5A)][1:]"
		text := "def call(byte):\n    \"\"\"Returns whether the call writes what it may not, and the bytes that it returns or writes.\"\"\"\n" +
			indented(k.once(s, w, x)) + "\n\n\n" + guarded(made) + verdict(s.fault, says, notThere+", or no result shows it")
		if s.left {
			text = "rooms = []  # of the arguments of earlier calls\n\n\n" + text
		}
		if s.heap {
			text = "fill = getattr(ctypes.CDLL(None), \"mallopt\", print)  # of glibc\n" + text
		}
		if s.heap && s.left {
			text = slowHeap + text
		}
		return text
	}, nil
}

// once is one call, about the tensor x.
func (k *call) once(s sight, w way, x string) string {
	var held []string
	for i, arg := range k.op.Func.Args {
		if k.names[i] != "" && arg.Type.HoldsTensors() {
			held = append(held, k.names[i])
		}
	}
	all := "[" + strings.Join(held, ", ") + "]"
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if s.heap {
		line("fill(-6, byte)  # M_PERTURB: what memory holds once it is freed, and until it is written")
	}
	if s.left {
		line("for room, _, _ in rooms:\n    room[:] = bytes([byte]) * len(room)")
	}
	lines = append(lines, k.setup...)
	if s.walls || s.left {
		line("walls = {}")
		for _, name := range held {
			line("%s = replaced(%s, lambda t: walled(t, walls, byte))", name, name)
		}
	}
	line("torch.manual_seed(0)")
	line("%s", w.statement("result = "+k.expression(w)))
	switch {
	case s.walls:
		line("return any(broken(*wall, byte) for wall in walls.values()), [elements(t) for t in tensors([result, %s])]", all)
	case s.left:
		line("strays = any(set(room) != {byte} for room, _, _ in rooms)")
		line("rooms.extend(walls.values())")
		line("return strays, [elements(t) for t in tensors([result])]")
	default:
		line("return [elements(t) for t in tensors([%s])]", x)
	}
	return strings.Join(lines, "\n")
}
