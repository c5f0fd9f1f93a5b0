package compile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/installed"
)

// A template is a library that was compiled for a release of libtorch, with placeholders for the facts that depend on
// where that is installed. A file beside it has the digest of the headers, which must be the same.

// The placeholders of libtorch's folder and version in a template.
var (
	blankFolder  = blank("/opassert-folder-of-libtorch-", 1024)
	blankVersion = blank("opassert-version-of-libtorch-", 96)
)

func blank(begin string, size int) string { return begin + strings.Repeat("_", size-len(begin)) }

// versionInTemplate defines the version so that the compiler does not assume its
// length: another definition might be linked.
var versionInTemplate = fmt.Sprintf(
	"extern \"C\" __attribute__((weak)) const char opassert_version[] = %q;\n", blankVersion)

// packageFolder returns the folder of templates in a package of opassert: lib, beside the folder of the command.
var packageFolder = func() (command, folder string, err error) {
	if command, err = os.Executable(); err == nil {
		command, err = filepath.EvalSymlinks(command)
	}
	return command, filepath.Join(filepath.Dir(filepath.Dir(command)), "lib", "opassert"), err
}

// packaged returns the template of that name, unless users can write to it who cannot write to the command.
func packaged(name string) ([]byte, error) {
	command, folder, err := packageFolder()
	if err != nil {
		return nil, err
	}
	f, err := openBeside(command, filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return unsealed(f, name)
}

// template returns the name of the template for a release of libtorch.
func (l *CppLibrary) template(t *installed.Torch) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %q %q %q\n", Architecture, dialect(t), l.Link, l.Units)
	err := l.hashFiles(hash)
	return fmt.Sprintf("libtorch-%s-%s-template-%x.so", t.Number(), l.Name, hash.Sum(nil)[:8]), err
}

// packagedReleases returns the releases of libtorch with templates, oldest first.
func (l *CppLibrary) packagedReleases() (releases []string) {
	_, folder, _ := packageFolder()
	files, _ := filepath.Glob(filepath.Join(folder, "libtorch-*-"+l.Name+"-template-*.so"))
	for _, file := range files {
		release, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), "libtorch-"), "-")
		releases = append(releases, release)
	}
	slices.SortFunc(releases, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return releases
}

const headersMark = ".headers" // suffix of a template's file of headers

// fill writes the template for a libtorch to a file, with its placeholders filled in.
func (l *CppLibrary) fill(t *installed.Torch, file string) error {
	name, err := l.template(t)
	if err != nil {
		return err
	}
	library, err := packaged(name)
	if err != nil {
		return err
	}
	headers, err := packaged(name + headersMark)
	if err != nil {
		return err
	}
	now, err := digestHeaders(t, strings.Fields(string(headers))[1:])
	if err != nil {
		return err
	}
	if !bytes.Equal(now, headers) {
		return fmt.Errorf("%v has other headers than its release", t)
	}
	for blank, value := range map[string]string{blankFolder: t.Lib, blankVersion: t.Version} {
		if len(value) > len(blank) || !bytes.Contains(library, []byte(blank)) {
			return fmt.Errorf("%q does not fit into %s", value, name)
		}
		library = bytes.ReplaceAll(library, []byte(blank), []byte(value+strings.Repeat("\x00", len(blank)-len(value))))
	}
	return os.WriteFile(file, library, 0o700)
}

// digestHeaders returns the text of a file of headers: their digest and their names.
func digestHeaders(t *installed.Torch, names []string) ([]byte, error) {
	hash := sha256.New()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(t.Include[0], name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(text), text)
	}
	return fmt.Appendf(nil, "%x\n%s\n", hash.Sum(nil), strings.Join(names, "\n")), nil
}

// Template compiles the template of the library for a libtorch into a folder.
func (l *CppLibrary) Template(t *installed.Torch, folder string) error {
	if err := t.Usable(); err != nil {
		return fmt.Errorf("%v: %w", t, err)
	}
	name, err := l.template(t)
	if err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	work, err := os.MkdirTemp(folder, name+partMark)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := filepath.Join(folder, name)
	flags := slices.Concat(dialect(t), includes(t), []string{"-D" + Version + "=opassert_version",
		"-ffile-prefix-map=" + t.Root + "=torch", "-MMD", "-MF", headersMark, "-o", file}, l.linkFlags(t, blankFolder))
	if err := l.build(t, work, versionInTemplate, flags); err != nil {
		return err
	}
	headers, err := headersOf(t, filepath.Join(work, headersMark))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+headersMark, headers, 0o600); err != nil {
		return err
	}
	return errors.Join(seal(file, name), seal(file+headersMark, name+headersMark))
}

// headersOf returns the digest of the headers of a libtorch that a compiler has listed.
func headersOf(t *installed.Torch, list string) ([]byte, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	escaped := strings.NewReplacer("\\\n", "\n", "\\ ", "\x00")
	var names []string
	for _, name := range strings.Fields(escaped.Replace(string(text))) {
		name = filepath.Clean(strings.ReplaceAll(name, "\x00", " "))
		if within, ok := strings.CutPrefix(name, t.Include[0]+string(filepath.Separator)); ok {
			names = append(names, within)
		}
	}
	slices.Sort(names)
	return digestHeaders(t, slices.Compact(names))
}
