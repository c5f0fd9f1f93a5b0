package libtorch

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
)

// The errors of a process that cannot have a libtorch, for errors.Is.
var (
	ErrNotFound   = installed.ErrNotFound
	ErrNoHeaders  = installed.ErrNoHeaders
	ErrNoCompiler = compile.ErrNoCompiler
	ErrNoCgo      = errors.New("this program was built without cgo, so it cannot load libtorch: install a C compiler (apt-get install gcc) and build it again with CGO_ENABLED=1")
)

//go:embed shim
var shimFolder embed.FS

// Sources returns the C++ that is compiled against a libtorch. observe.cpp, which
// does the observing, and schemas.cpp serve others too.
func Sources() fs.FS { return compile.Embedded(shimFolder, "shim") }

// use is which libtorch the process will load.
var use struct {
	sync.Mutex
	dir     string
	others  []string
	first   []string // the library that is loaded before libtorch is started
	shim    []string
	remote  int // the socket of another process's libtorch
	started bool
}

// Use sets which libtorch the process loads, by its folder: an unpacked
// libtorch, the Python package torch, or what else [installed.Inspect] takes.
// It is called before anything else here. Without it the process loads the one
// that [installed.Find] comes across first. Others are loaded before it, such as
// [installed.Torch.Needs].
func Use(dir string, others ...string) error {
	return choose(func() { use.dir, use.others = dir, others })
}

// UseShim makes the process load the shim that [Fit] returned in another process of
// the same program.
func UseShim(shim string) error {
	return choose(func() { use.shim = strings.Split(shim, "\n") })
}

// UseRemote sets that libtorch is in another process, which serves the calls that
// come through a socket: oa_serve of the shim that [Fit] returns.
func UseRemote(socket int) error {
	return choose(func() { use.remote = socket })
}

// Fit compiles the shim that fits a libtorch, where that was not done before,
// and returns what [UseShim] takes. It is text for an environment variable: the
// shared libraries to load, others before the shim, one a line. It loads nothing
// itself.
func Fit(torch *installed.Torch, others ...string) (string, error) {
	if !cgo {
		return "", ErrNoCgo
	}
	path, err := Shim().Path(torch)
	if err != nil {
		return "", err
	}
	return strings.Join(slices.Concat(torch.Preload(), others, []string{path}), "\n"), nil
}

// Shim is the library that calls libtorch.
func Shim() *compile.Library {
	return &compile.Library{Name: "shim", Files: []fs.FS{Sources()}, Units: []string{"observe.cpp", "device.cpp", "aborts.cpp", "call.cpp", "methods.cpp", "schemas.cpp", "tensors.cpp", "memory.cpp", "state.cpp", "serve.cpp"}}
}

func choose(set func()) error {
	use.Lock()
	defer use.Unlock()
	if use.started {
		return errors.New("libtorch: one is loaded already, and a process has one at most")
	}
	set()
	return nil
}

// Version returns the version of the libtorch that the process loads, as its
// package says it: "2.6.0+cu124".
func Version() (string, error) { return started() }

var started = sync.OnceValues(func() (string, error) {
	use.Lock()
	defer use.Unlock()
	use.started = true
	if err := load(); err != nil {
		return "", fmt.Errorf("libtorch: %w", err)
	}
	return setUp()
})

func setUp() (version string, err error) {
	return reply("start", crossing{function: fnStart}, (*reader).text)
}

// Remember makes the state that the process has now that which [Left] restores.
func Remember() error {
	if err := start(); err != nil {
		return err
	}
	_, err := setUp()
	return err
}

// start sets libtorch up, once.
func start() error {
	_, err := started()
	return err
}

// load loads the shim, and with it libtorch: those that were chosen, or those
// that are found.
func load() error {
	if use.remote != 0 {
		openRemote(use.remote)
		return nil
	}
	if use.shim != nil {
		return open(use.shim)
	}
	torch, _, err := installed.Find(use.dir)
	if err != nil {
		return err
	}
	shim, err := Fit(torch, append(use.others, torch.Needs(use.first...)...)...)
	if err != nil {
		return err
	}
	if err := open(strings.Split(shim, "\n")); err != nil {
		return fmt.Errorf("load %v: %w (if it is a library that libtorch needs: install it, or let LD_LIBRARY_PATH name its folder)", torch, err)
	}
	return nil
}

// LoadLibrary loads a shared library; the operators that it registers are
// there afterwards. It cannot be unloaded. An extension of Python, as that of a package
// which brings a device, is loaded before anything else here is called.
func LoadLibrary(path string) error {
	choose(func() { use.first = []string{path} }) // else what it needs is there already, or it says what is not
	if err := start(); err != nil {
		return err
	}
	if _, err := ask("load library", crossing{function: fnLoad, data: []byte(path)}, (*reader).nothing); err != nil {
		version, _ := started()
		return builtForAnother(err, path, version)
	}
	_, err := list()
	return err
}

// torchSymbol matches a name of PyTorch's own that a library asks for and no library has.
var torchSymbol = regexp.MustCompile(`undefined symbol: _Z(T[IVS])?N[KVr]*(3c10|2at|5torch|6caffe2)`)

// builtForAnother adds to the error of a library which asks for what this PyTorch lacks what to do.
func builtForAnother(err error, library, version string) error {
	if !torchSymbol.MatchString(err.Error()) {
		return err
	}
	return fmt.Errorf("%w (it was built for %s, not %s: choose that with $LIBTORCH, or opassert's -libtorch, or build it again)", err, installed.BuiltFor(library, version), version)
}
