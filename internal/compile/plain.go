package compile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Stored returns a file of the cache with these bytes, and a digest behind them; its name begins and
// ends with the given words.
func Stored(name, suffix string, text []byte) (string, error) {
	key := sha256.Sum256(text)
	write := func(_, file string) error { return os.WriteFile(file, text, 0o600) }
	return cached(fmt.Sprintf("%s-%x%s", name, key[:8], suffix), write)
}

// Plain returns the file of a C shared library that depends on libc alone, and compiles it if it is not in the cache.
func Plain(name, source string) (string, error) {
	flags := []string{"-x", "c", "-O2", "-g0", "-fPIC", "-shared", "-Wl,-Bsymbolic-functions", "-w"}
	key := sha256.Sum256(fmt.Appendf(nil, "%s %q\n%s", Architecture, flags, source))
	name = fmt.Sprintf("%s-%x.so", name, key[:8])
	return cached(name, func(work, file string) error {
		if library, err := packaged(name); err == nil {
			return os.WriteFile(file, library, 0o700)
		}
		cxx, err := compiler()
		if err != nil {
			return errors.New("a C++ compiler is needed once, for the object that is loaded into the program: " + toInstall)
		}
		c := filepath.Join(work, "source.c")
		if err := os.WriteFile(c, []byte(source), 0o600); err != nil {
			return err
		}
		args := append(append(cxx, flags...), c, "-o", file, "-ldl", "-lpthread")
		if out, err := run(work, args); err != nil {
			return fmt.Errorf("compile %s: %w\n%s", name, err, shortened(out, work))
		}
		return nil
	})
}
