package libtorch

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts/libtorch/compile"
	"github.com/opassert/opassert/asserts/libtorch/installed"
)

// What keeps a process from having a libtorch; errors.Is tells them apart.
var (
	ErrNotFound   = installed.ErrNotFound
	ErrNoHeaders  = installed.ErrNoHeaders
	ErrNoCompiler = compile.ErrNoCompiler
	ErrNoCgo      = errors.New("this program was built without cgo, so it cannot load libtorch: install a C compiler (apt-get install gcc) and build it again with CGO_ENABLED=1")
)

//go:embed shim
var shimFolder embed.FS

// Sources returns the C++ that is compiled against a libtorch. shim.cpp is what
// this package loads; observe.cpp, which does the observing, serves others too.
func Sources() fs.FS {
	sources, err := fs.Sub(shimFolder, "shim")
	if err != nil {
		panic(err) // the folder is in the program
	}
	return sources
}

// use is which libtorch the process will load.
var use struct {
	sync.Mutex
	dir     string
	shim    []string
	started bool
}

// Use says which libtorch the process loads, by its folder: an unpacked
// libtorch, the Python package torch, or what else [installed.Inspect] takes.
// It is called before anything else here. Without it the process loads the one
// that [installed.Find] comes across first.
func Use(dir string) error {
	return choose(func() { use.dir = dir })
}

// UseShim says that the process loads the libtorch that another process of the
// same program has loaded: shim is what [Shim] returned there.
func UseShim(shim string) error {
	return choose(func() { use.shim = strings.Split(shim, "\n") })
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

// Shim loads libtorch, if that is not done, and returns what another process
// gives [UseShim] to load the same. It is text for an environment variable.
func Shim() (string, error) {
	if err := start(); err != nil {
		return "", err
	}
	return strings.Join(use.shim, "\n"), nil
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
	s := newScratch()
	defer s.free()
	nativeStart(s.reply)
	r, err := s.read("start")
	if err != nil {
		return "", err
	}
	return r.text(), nil
})

// start sets libtorch up, once.
func start() error {
	_, err := started()
	return err
}

// load finds libtorch, compiles the shim that fits it where that was not done
// before, and loads both.
func load() error {
	if !cgo {
		return ErrNoCgo
	}
	if use.shim != nil {
		return open(use.shim)
	}
	torch, _, err := installed.Find(use.dir)
	if err != nil {
		return err
	}
	shim := compile.Library{Name: "shim", Files: []fs.FS{Sources()}, Unit: "shim.cpp"}
	path, err := shim.Path(torch)
	if err != nil {
		return err
	}
	use.shim, err = openAll(path, torch)
	if err != nil {
		return fmt.Errorf("load %v: %w", torch, err)
	}
	return nil
}

// openAll opens a shim and returns it, after the libraries that had to be opened
// before it.
func openAll(path string, torch *installed.Torch) ([]string, error) {
	libraries := []string{path}
	for {
		err := open(libraries)
		missing := missingLibrary(err)
		if missing == "" {
			return libraries, err
		}
		file := torch.Companion(missing)
		if file == "" || slices.Contains(libraries, file) {
			return nil, fmt.Errorf("%w: install it, or let $LD_LIBRARY_PATH name its folder", err)
		}
		libraries = append([]string{file}, libraries...)
	}
}

// missingLibrary returns the name of the library that an error says is not
// there: "libcudart.so.12: cannot open shared object file: No such file ...".
func missingLibrary(err error) string {
	if err == nil {
		return ""
	}
	name, _, found := strings.Cut(err.Error(), ": cannot open shared object file")
	if !found || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// LoadLibrary loads a shared library; the operators that it registers are
// there afterwards. It cannot be unloaded.
func LoadLibrary(path string) error {
	if err := start(); err != nil {
		return err
	}
	s := newScratch()
	defer s.free()
	nativeLoad(path, s.reply)
	if _, err := s.read("load library"); err != nil {
		return err
	}
	_, err := list()
	return err
}
