package checkup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/report"
)

// An earlierRun is the first line of the file with the report of a command's last run.
type earlierRun struct {
	Loaded []string `json:"loaded"` // the files that the ops' libraries and modules are of
	Digest string   `json:"digest"` // of what decides the report
}

// Earlier returns the report of the last run over the same libraries or modules in this folder, if nothing
// that decides it has changed since, or nil. Go kernels, devices and runs of single cases have none.
func (o *Options) Earlier() *report.Report {
	path := o.keptAt()
	if path == "" || o.Rerun {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewReader(f)
	line, _ := in.ReadBytes('\n')
	var last earlierRun
	if json.Unmarshal(line, &last) != nil || last.Digest != o.decides(last.Loaded) {
		return nil
	}
	r, _ := report.ReadReport(in)
	return r
}

// Keep keeps the report for Earlier, unless a run that is not so busy may have another.
func (c *Run) Keep(r *report.Report) error {
	path := c.keptAt()
	cut := func(op *report.OpResult) bool { return op.Fault != "" || op.Left != "" || len(op.Unfinished) > 0 }
	if path == "" || len(c.Left) > 0 || slices.ContainsFunc(r.Ops, cut) {
		return nil
	}
	if c.begun.Digest == "" || c.begun.Digest != c.decides(c.begun.Loaded) { // a file was written meanwhile
		return nil
	}
	line, err := json.Marshal(c.begun)
	text := bytes.NewBuffer(append(line, '\n'))
	if err == nil {
		err = r.WriteJSON(text)
	}
	if err == nil {
		err = os.WriteFile(path+".part", text.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	return err
}

// begin notes what decides the report, as it is before the first call.
func (c *Run) begin() {
	if c.keptAt() == "" {
		return
	}
	for _, p := range c.programs {
		c.begun.Loaded = append(c.begun.Loaded, p.listed.Files...)
	}
	c.begun.Digest = c.decides(c.begun.Loaded)
}

// keptAt returns the file with the last run's report, or "" for a run that keeps none.
func (o *Options) keptAt() string {
	if len(o.adding()) == 0 || o.Device != "" || o.Case >= 0 || o.CasesFile != "" || o.State != "" {
		return ""
	}
	cache, err := os.UserCacheDir()
	here, missing := os.Getwd()
	if err != nil || missing != nil {
		return ""
	}
	var in inputs
	in.add(here, o.Libs, o.Modules, o.Ops, o.Torch.Root)
	return filepath.Join(cache, "opassert", "last-"+in.digest()+".json")
}

// decides returns the digest of what decides a report, or "" if that can't be known: besides what an interrupted run
// continues with, the files that were loaded, and the code beside a module, which it may import later.
func (o *Options) decides(loaded []string) string {
	var in inputs
	in.add((&Run{Options: o, shard: o.Shard}).key())
	in.stamp(loaded...)
	for _, module := range o.Modules {
		files, all := codeBeside(o.Host.Source(module))
		if !all {
			return ""
		}
		in.add(files)
		in.stamp(files...)
	}
	return in.digest()
}

// mostBeside is how many files and folders codeBeside looks at.
const mostBeside = 10_000

// codeBeside returns the code in the folder that a module is imported from, and whether that is all; for an
// installed one, none.
func codeBeside(source string) (files []string, all bool) {
	root := filepath.Dir(source)
	if filepath.Base(source) == "__init__.py" {
		root = filepath.Dir(root)
	}
	if source == "" || strings.HasSuffix(root, "-packages") {
		return nil, source != ""
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil:
			return err
		case seen > mostBeside:
			return fs.ErrInvalid
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case !d.IsDir() && code.MatchString(d.Name()):
			files = append(files, path)
		}
		return nil
	})
	return files, err == nil
}
