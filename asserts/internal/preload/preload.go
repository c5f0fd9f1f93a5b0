// Package preload runs an unmodified program with objects of ours loaded before
// its own libraries, and answers what they ask for: the library that fits the
// libtorch which the program has loaded.
package preload

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/opassert/opassert/asserts/internal/compile"
	"github.com/opassert/opassert/asserts/libtorch/installed"
)

//go:embed preload.h
var header string

// An Object is loaded into each process of a program.
type Object struct {
	Folder   string // that it and opassert share
	file     string
	env      string
	listener net.Listener
}

// New compiles an object from C, which preload.h precedes, unless the cache
// holds it. It finds its folder by an environment variable.
func New(name, source, env string) (*Object, error) {
	file, err := compile.Plain(name, header+source)
	if err != nil {
		return nil, err
	}
	o := &Object{file: file, env: env}
	if o.Folder, err = os.MkdirTemp("", "opassert-"+name); err != nil {
		return nil, err
	}
	if strings.ContainsAny(file, " :") { // which separate the words of LD_PRELOAD
		o.file = filepath.Join(o.Folder, name+".so")
		err = os.Symlink(file, o.file)
	}
	if err == nil {
		o.listener, err = net.Listen("unix", filepath.Join(o.Folder, "socket"))
	}
	if err != nil {
		os.RemoveAll(o.Folder)
		return nil, err
	}
	return o, nil
}

// Serve calls serve, which is not to wait, for each connection until the object
// is closed.
func (o *Object) Serve(serve func(net.Conn)) {
	for {
		conn, err := o.listener.Accept()
		if err != nil {
			return
		}
		serve(conn)
	}
}

// Close ends Serve and removes the folder.
func (o *Object) Close() error { return errors.Join(o.listener.Close(), os.RemoveAll(o.Folder)) }

// A Program is what is run.
type Program struct {
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run runs the program to its end with the objects in it, and returns its exit
// status, or 128 and the number of the signal that ended it. An error says why
// it was not started. What interrupts this process interrupts the program, which
// ends; and then Run returns.
func (p Program) Run(ctx context.Context, objects ...*Object) (status int, err error) {
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	cmd.Env = os.Environ()
	var files []string
	for _, o := range objects {
		files = append(files, o.file)
		cmd.Env = append(cmd.Env, o.env+"="+o.Folder)
	}
	if old := os.Getenv("LD_PRELOAD"); old != "" {
		files = append(files, old)
	}
	cmd.Env = append(cmd.Env, "LD_PRELOAD="+strings.Join(files, ":"))
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if s != os.Interrupt { // the terminal sends it to the program as well
					cmd.Process.Signal(s)
				}
			case <-ctx.Done():
				cmd.Process.Signal(syscall.SIGTERM)
				return
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// Torch returns the libtorch that a loaded library belongs to.
func Torch(library string) (*installed.Torch, error) {
	for dir := filepath.Dir(library); len(dir) > 1; dir = filepath.Dir(dir) {
		if torch, err := installed.Inspect(dir); err == nil && torch.Lib == filepath.Dir(library) {
			return torch, nil
		}
	}
	return nil, fmt.Errorf("%s belongs to no PyTorch or libtorch that is known", library)
}

// A Frame is what the two sides send: its kind and its length, each four bytes
// in the machine's order, then that many bytes. Each is answered by one of the
// same kind.
type Frame struct {
	Kind byte
	Data []byte
}

// Fits is the kind of the frame that an object sends: where the library is that
// it looks into, answered by where the one is that fits it, or by nothing; or
// "!" and a trouble.
const Fits = 'W'

// maxFrame bounds what a broken peer makes this side allocate.
const maxFrame = 1 << 30

// ReadFrame reads a frame.
func ReadFrame(r io.Reader) (Frame, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.NativeEndian.Uint32(head[4:])
	if n > maxFrame {
		return Frame{}, fmt.Errorf("a frame of %d bytes", n)
	}
	f := Frame{Kind: byte(binary.NativeEndian.Uint32(head[:])), Data: make([]byte, n)}
	_, err := io.ReadFull(r, f.Data)
	return f, err
}

// Write writes a frame.
func (f Frame) Write(w io.Writer) error {
	head := binary.NativeEndian.AppendUint32(nil, uint32(f.Kind))
	head = binary.NativeEndian.AppendUint32(head, uint32(len(f.Data)))
	_, err := w.Write(append(head, f.Data...))
	return err
}
