package repro

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/subprocess"
)

// A programRunner runs Python programs, each in a process of its own, forked from one that has imported
// torch, which takes longer than most programs, or also the modules of another program.
type programRunner struct {
	ctx             context.Context
	python, printed string // printed is the file for a program's output

	cmd     *exec.Cmd // nil until a program is run
	asks    io.WriteCloser
	answers *bufio.Reader
	said    bytes.Buffer // output of the process that imports torch
	release func()
}

//go:embed serve.py
var serve string

func (r *programRunner) start() error {
	r.cmd = exec.CommandContext(r.ctx, r.python, "-c", serve, strconv.Itoa(int(longest.Seconds())))
	r.cmd.Stderr, r.cmd.WaitDelay = &r.said, time.Second
	var answers io.Reader
	var err error
	if r.asks, err = r.cmd.StdinPipe(); err == nil {
		answers, err = r.cmd.StdoutPipe()
	}
	if err != nil {
		return err
	}
	r.answers, r.release = bufio.NewReader(answers), subprocess.Command(r.cmd)
	if err = r.cmd.Start(); err != nil {
		r.release()
		r.cmd = nil
	}
	return err
}

// end ends the process from which programs are forked, and returns why it ended itself.
func (r *programRunner) end() string {
	if r.cmd == nil {
		return ""
	}
	r.asks.Close()
	err := r.cmd.Wait()
	r.release()
	why := lastLine(r.said.Bytes())
	if err != nil && (why == "" || r.cmd.ProcessState.ExitCode() < 0) {
		why = err.Error()
	}
	r.cmd = nil
	r.said.Reset()
	return why
}

const longest = 3 * time.Minute

// run runs a program, and reports whether the fault is there, or why it is not.
func (r *programRunner) run(file string) (shown bool, why string) { return r.forked(file, false) }

// try runs a program similar to the previous one, whose imports have been made.
func (r *programRunner) try(file string) (shown bool, why string) { return r.forked(file, true) }

func (r *programRunner) forked(file string, like bool) (shown bool, why string) {
	status, err := r.ask(file, like)
	if r.ctx.Err() != nil {
		r.end()
		return false, interrupted
	}
	if err != nil {
		return false, cmp.Or(r.end(), err.Error())
	}
	out, err := os.ReadFile(r.printed)
	if err != nil {
		return false, err.Error()
	}
	return outcome(status, out)
}

// outcome reports whether the fault is there, or why not, from a program's output and status, negative for a signal.
func outcome(status int, out []byte) (shown bool, why string) {
	last := lastLine(out)
	switch {
	case status == 1 && strings.HasPrefix(last, there):
		return true, ""
	case status == -int(syscall.SIGALRM):
		return false, fmt.Sprintf("it takes longer than %v", longest)
	case last == "" && status < 0:
		return false, fmt.Sprintf("signal: %v", syscall.Signal(-status))
	case last == "":
		return false, fmt.Sprintf("exit status %d", status)
	}
	return false, last
}

// built builds a program in a folder, runs it, and reports whether the fault is there, or why it is not shown.
func (r *programRunner) built(folder string, build []string, file string) (shown bool, why string) {
	if out, err := r.command(folder, build...); r.ctx.Err() != nil {
		return false, interrupted
	} else if err != nil {
		return false, cmp.Or(firstError(out), err.Error())
	}
	ctx, stop := context.WithTimeout(r.ctx, longest)
	defer stop()
	out, err := (&programRunner{ctx: ctx}).command(folder, file)
	var exit *exec.ExitError
	switch {
	case r.ctx.Err() != nil:
		return false, interrupted
	case ctx.Err() != nil:
		return outcome(-int(syscall.SIGALRM), nil)
	case err != nil && !errors.As(err, &exit):
		return false, err.Error()
	case exit != nil && exit.ExitCode() < 0:
		return outcome(0, []byte(exit.String()))
	case exit != nil:
		return outcome(exit.ExitCode(), out)
	}
	return outcome(0, out)
}

func (r *programRunner) command(folder string, words ...string) ([]byte, error) {
	cmd := exec.CommandContext(r.ctx, words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	defer subprocess.Command(cmd)()
	return cmd.CombinedOutput()
}

const interrupted = "it was not run: interrupted"

const unbuilt = "it can't be built: "

func firstError(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.Contains(line, ": ") && !strings.Contains(line, ": In function") {
			return unbuilt + printable.Text(line)
		}
	}
	return ""
}

// ask runs a program, and returns its exit status, negative for a signal.
func (r *programRunner) ask(file string, like bool) (status int, err error) {
	if r.cmd == nil {
		if err := r.start(); err != nil {
			return 0, err
		}
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return 0, err
	}
	ask, err := json.Marshal([]any{path, r.printed, like})
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(r.asks, "%s\n", ask) // a process that has ended does not answer
	answer, err := r.answers.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(answer))
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return printable.Text(lines[len(lines)-1])
}
