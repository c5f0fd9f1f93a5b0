// Package compile compiles C++ into a shared library for one libtorch, with the
// user's compiler, and stores it in the user's cache folder.
package compile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/subprocess"
)

// ErrNoCompiler is the error of a machine without a C++ compiler.
var ErrNoCompiler = errors.New("a C++ compiler is needed once, to compile a library for this libtorch: " + toInstall)

const toInstall = "install g++ or clang++, or name one with $CXX"

// A CppLibrary is C++ that is compiled against the headers of a libtorch.
type CppLibrary struct {
	Name  string   // the name in the cache: "shim"
	Files []fs.FS  // the sources and headers: the top-level files of each, merged into one folder
	Units []string // the sources, compiled as one unit: reading headers is most of the cost
	Link  []string // flags of the compiler and the linker besides those of libtorch: "-O2", "-ldl"
}

// Embedded returns the files of a folder that is embedded in the program.
func Embedded(files embed.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}

// Architecture is the GOARCH of the libraries. A package can be built for another one, if $CXX compiles for it.
var Architecture = runtime.GOARCH

// Path returns the file of the shared library for a libtorch, and compiles it if it
// is not in the cache. Processes that need the same library wait for the first.
func (l *CppLibrary) Path(t *installed.Torch) (string, error) {
	if err := t.Usable(); err != nil {
		return "", fmt.Errorf("%v: %w", t, err)
	}
	key, err := l.key(t)
	if err != nil {
		return "", err
	}
	name := "libtorch-" + t.Number() + "-" + l.Name + "-" + key + ".so"
	return cached(name, func(work, file string) error {
		unfit := l.fill(t, file)
		if unfit == nil {
			return nil
		}
		printable.Printf(os.Stderr, "opassert: compiling for %v, once: some seconds\n", t)
		err := l.build(t, work, "", append(append(l.flags(t), "-o", file), l.linkFlags(t, t.Lib)...))
		if releases := l.packagedReleases(); errors.Is(err, ErrNoCompiler) && len(releases) > 0 {
			if slices.Contains(releases, t.Number()) {
				return fmt.Errorf("%w; the library that came with opassert for this release cannot be used: %w", err, unfit)
			}
			return fmt.Errorf("%w; opassert brings libraries for libtorch %s", err, strings.Join(releases, ", "))
		}
		return err
	})
}

// key is a digest of the library's inputs, except the compiler: a cached library needs none.
func (l *CppLibrary) key(t *installed.Torch) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n%q\n%s\n", append(l.flags(t), l.linkFlags(t, t.Lib)...), l.Units, t.Version)
	for _, lib := range t.Link() {
		info, err := os.Stat(lib)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, lib, info.Size(), info.ModTime().UnixNano())
	}
	err := l.hashFiles(hash)
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), err
}

func (l *CppLibrary) hashFiles(to io.Writer) error {
	return l.eachFile(func(name string, text []byte) error {
		_, err := fmt.Fprintf(to, "%s %d\n%s", name, len(text), text)
		return err
	})
}

func (l *CppLibrary) eachFile(do func(name string, text []byte) error) error {
	for _, files := range l.Files {
		names, err := fs.Glob(files, "*")
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			if err := do(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// Version is the macro with the version of libtorch's package, a string.
const Version = "OPASSERT_LIBTORCH_VERSION"

func (l *CppLibrary) flags(t *installed.Torch) []string {
	return slices.Concat(dialect(t), []string{"-D" + Version + "=" + strconv.Quote(t.Version)}, includes(t))
}

// dialect holds the compiler flags of a libtorch that do not depend on where it is installed.
func dialect(t *installed.Torch) []string {
	abi := "0"
	if t.CXX11 {
		abi = "1"
	}
	return []string{"-std=" + t.Standard, "-O1", "-g0", "-fPIC", "-shared", "-w", "-D_GLIBCXX_USE_CXX11_ABI=" + abi}
}

func includes(t *installed.Torch) []string {
	return slicesx.Map(t.Include, func(dir string) string { return "-I" + dir })
}

// Precompiled is the suffix of a precompiled header.
const Precompiled = ".gch"

// Program returns a function that returns the command that compiles a C++ file into a
// program for a libtorch, or into a precompiled header.
func Program(t *installed.Torch) (func(file, to string) []string, error) {
	cxx, err := compiler()
	if err = cmp.Or(t.Usable(), err); err != nil {
		return nil, err
	}
	flags := slices.DeleteFunc(dialect(t), func(flag string) bool { return flag == "-shared" || flag == "-O1" })
	flags = slices.Concat(cxx, flags, includes(t))
	return func(file, to string) []string {
		if strings.HasSuffix(to, Precompiled) {
			return slices.Concat(flags, []string{"-x", "c++-header", file, "-o", to})
		}
		link := append([]string{"-Wl,-rpath," + t.Lib, "-Wl,--no-as-needed"}, t.Link()...)
		return slices.Concat(flags, []string{file, "-o", to}, link, []string{"-ldl"})
	}, nil
}

// unity is the file that is compiled.
const unity = "opassert_unity.cpp"

// build runs the compiler in a folder, on a file that begins with text.
func (l *CppLibrary) build(t *installed.Torch, work, text string, flags []string) error {
	cxx, err := compiler()
	if err != nil {
		return fmt.Errorf("%v: %w", t, err)
	}
	err = l.eachFile(func(name string, text []byte) error {
		return os.WriteFile(filepath.Join(work, name), text, 0o600)
	})
	if err != nil {
		return err
	}
	var one strings.Builder
	one.WriteString(text)
	for _, unit := range l.Units {
		fmt.Fprintf(&one, "#include %q\n", unit)
	}
	if err := os.WriteFile(filepath.Join(work, unity), []byte(one.String()), 0o600); err != nil {
		return err
	}
	if out, err := run(work, slices.Concat(cxx, []string{unity}, flags)); err != nil {
		return fmt.Errorf("compile for %v: %s -std=%s: %w\n%s",
			t, strings.Join(cxx, " "), t.Standard, err, shortened(out, t.Root, work))
	}
	return nil
}

// An Interrupted is the error of a compilation that a signal ended, which should end the process.
type Interrupted struct{ Signal os.Signal }

func (e *Interrupted) Error() string { return "interrupted: " + e.Signal.String() }

// run runs a compiler in a folder, with its temporary files there too. A signal that would end this
// process ends the compiler, so that the folder is removed.
func run(work string, command []string) ([]byte, error) {
	signals := make(chan os.Signal, 1)
	subprocess.Notify(signals)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case s := <-signals:
			cancel(&Interrupted{s})
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	defer subprocess.Command(cmd)()
	out, err := cmd.CombinedOutput()
	return out, cmp.Or(context.Cause(ctx), err)
}

// shortened returns the first lines of a compiler's errors, with paths relative to libtorch's folder.
func shortened(out []byte, folders ...string) string {
	const most = 10
	text := string(out)
	for _, dir := range folders {
		text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d lines more", more))
	}
	return strings.Join(lines, "\n")
}

// Compiler returns the command of the C++ compiler.
func Compiler() (string, error) {
	words, err := compiler()
	return strings.Join(words, " "), err
}

// compiler returns the C++ compiler's command, split into words.
func compiler() ([]string, error) {
	if cxx := strings.TrimSpace(os.Getenv("CXX")); cxx != "" {
		if path, err := exec.LookPath(cxx); err == nil { // a name may have spaces
			return []string{path}, nil
		}
		words := strings.Fields(cxx)
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil, fmt.Errorf("CXX=%s: %w: %w", cxx, err, ErrNoCompiler)
		}
		return words, nil
	}
	for _, name := range []string{"c++", "g++", "clang++"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, ErrNoCompiler
}
