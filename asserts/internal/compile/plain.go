package compile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Plain returns the file of a shared library of C that depends on libc alone,
// and compiles it first if the cache does not hold it.
func Plain(name, source string) (string, error) {
	flags := []string{"-x", "c", "-O2", "-g0", "-fPIC", "-shared", "-w"}
	key := sha256.Sum256(fmt.Appendf(nil, "%s %q\n%s", runtime.GOARCH, flags, source))
	name = fmt.Sprintf("%s-%x.so", name, key[:8])
	for _, dir := range cacheFolders() {
		if file := filepath.Join(dir, name); whole(file) {
			return file, nil
		}
	}
	cxx, err := compiler()
	if err != nil {
		return "", errors.New("a C++ compiler is needed once, for what is loaded into the program: install g++ or clang++, or name one with $CXX")
	}
	dir, err := writableFolder()
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "compile")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	c, so := filepath.Join(work, "source.c"), filepath.Join(work, "library.so")
	if err := os.WriteFile(c, []byte(source), 0o666); err != nil {
		return "", err
	}
	args := append(append(cxx[1:], flags...), c, "-o", so, "-ldl", "-lpthread")
	if out, err := exec.Command(cxx[0], args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile %s: %w\n%s", name, err, shortened(out, work))
	}
	file := filepath.Join(dir, name)
	return file, os.Rename(so, file)
}
