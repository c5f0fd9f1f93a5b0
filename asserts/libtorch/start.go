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
	ErrNoCgo      = errors.New("this program was built without cgo, so it cannot load libtorch: install a C compiler " +
		"(apt-get install gcc) and build it again with CGO_ENABLED=1")
)

//go:embed shim
var shimFolder embed.FS

// Sources returns the C++ that is compiled against a libtorch. observe.cpp, which makes the
// observations, and schemas.cpp are used elsewhere, too.
func Sources() fs.FS { return compile.Embedded(shimFolder, "shim") }

// use describes the libtorch that the process will load.
var use struct {
	sync.Mutex
	dir     string
	others  []string
	first   []string // the library to load before libtorch is started
	shim    []string
	remote  int // the socket to another process with libtorch
	started bool
}

// Use sets the libtorch to load, by its folder: an unpacked libtorch, the Python package torch, or anything that
// [installed.Inspect] accepts. It must be called first. Without it the process loads the first one that
// [installed.Find] finds. The other libraries are loaded before it, such as [installed.Torch.Needs].
func Use(dir string, others ...string) error {
	return choose(func() { use.dir, use.others = dir, others })
}

// UseShim makes the process load the shim that [BuildShim] returned in another process of the same program.
func UseShim(shim string) error { return choose(func() { use.shim = strings.Split(shim, "\n") }) }

// UseRemote makes calls through a socket to a process with libtorch that runs oa_serve of the shim of [BuildShim].
func UseRemote(socket int) error { return choose(func() { use.remote = socket }) }

// BuildShim compiles the shim for a libtorch, unless that was done before, and returns the argument for [UseShim]: a
// text for an environment variable, with the shared libraries to load, one a line, the shim last. It loads none.
func BuildShim(torch *installed.Torch, others ...string) (string, error) {
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
func Shim() *compile.CppLibrary {
	return &compile.CppLibrary{Name: "shim", Files: []fs.FS{Sources()},
		Units: []string{"observe.cpp", "device.cpp", "aborts.cpp", "call.cpp", "methods.cpp", "schemas.cpp", "tensors.cpp",
			"memory.cpp", "state.cpp", "serve.cpp"}}
}

func choose(set func()) error {
	use.Lock()
	defer use.Unlock()
	if use.started {
		return errors.New("libtorch: one is already loaded, and a process has at most one")
	}
	set()
	return nil
}

// Version returns the version of the libtorch that the process loads, in the form of its package: "2.6.0+cu124".
func Version() (string, error) { return started() }

var started = sync.OnceValues(func() (string, error) {
	use.Lock()
	defer use.Unlock()
	use.started = true
	if err := load(); err != nil {
		return "", fmt.Errorf("libtorch: %w", err)
	}
	return reply("start", crossing{function: fnStart}, (*reader).text)
})

// SaveState makes the present state of the process the one that [RestoreState] restores.
func SaveState() error {
	_, err := ask("start", crossing{function: fnStart}, (*reader).text)
	return err
}

func start() error {
	_, err := started()
	return err
}

// load loads the shim, and with it libtorch: the chosen or the found libraries.
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
	shim, err := BuildShim(torch, append(use.others, torch.Needs(use.first...)...)...)
	if err != nil {
		return err
	}
	if err := open(strings.Split(shim, "\n")); err != nil {
		return fmt.Errorf("load %v: %w (if libtorch needs this library: install it, or add its folder to "+
			"LD_LIBRARY_PATH)", torch, err)
	}
	return nil
}

// LoadLibrary loads a shared library with its operators. It cannot be unloaded. A Python extension,
// such as that of a package which brings a device, must be loaded before any other call here.
func LoadLibrary(path string) error {
	// otherwise its dependencies are loaded already, or the error names the missing one
	choose(func() { use.first = []string{path} })
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

// torchSymbol matches a PyTorch symbol that a library requires and no library defines.
var torchSymbol = regexp.MustCompile(`undefined symbol: _Z(T[IVS])?N[KVr]*(3c10|2at|5torch|6caffe2)`)

// builtForAnother adds the remedy to the error of a library that requires symbols which this PyTorch lacks.
func builtForAnother(err error, library, version string) error {
	if !torchSymbol.MatchString(err.Error()) {
		return err
	}
	return fmt.Errorf("%w (it was built for %s, not %s: choose that with $LIBTORCH, or opassert's -libtorch, or build it "+
		"again)", err, installed.BuiltFor(library, version), version)
}
