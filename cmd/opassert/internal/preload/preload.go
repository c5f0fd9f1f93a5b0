// Package preload runs an unmodified program with preloaded objects, and answers
// their requests for the library that fits the program's libtorch.
package preload

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/locked"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/subprocess"
)

//go:embed preload.h
var header string

//go:embed imports.h
var importsHeader string

//go:embed exec.h
var execHeader string

// An ObjectSpec is a kind of object: its source, and the target library that it waits for.
type ObjectSpec struct {
	Name     string
	Source   string                                        // C, to be preceded by preload.h, imports.h and exec.h
	Variable string                                        // the environment variable by which it finds opassert
	Library  string                                        // prefix of the name of the target library
	Fit      func(library string) (string, error)          // returns the file of the library that fits the target library
	Memory   func(pid int, which string) (*os.File, error) // memory that a process asks to share; may be nil
}

// A SharedObject is loaded into each process of a program.
type SharedObject struct {
	folder *locked.Folder // for the socket and a copy
	kind   ObjectSpec
	file   string // the file in the cache

	secret, answer string // known to the processes of this run only
	listeners      []net.Listener
	serving        sync.WaitGroup

	fitting   sync.Mutex // held while a library is compiled
	mu        sync.Mutex
	heard     map[int]bool      // processes that have connected
	fitted    map[string]string // the fitting libraries, by target library
	unwatched []string
}

// Compile returns the file of the object, and compiles it if it is not in the cache.
func (k ObjectSpec) Compile() (string, error) {
	return compile.Plain(k.Name, fmt.Sprintf("#define VARIABLE %q\n", k.Variable)+header+importsHeader+execHeader+k.Source)
}

// New makes an object that processes can connect to.
func New(kind ObjectSpec) (*SharedObject, error) {
	file, err := kind.Compile()
	if err != nil {
		return nil, err
	}
	o := &SharedObject{kind: kind, file: file, secret: rand.Text(), answer: rand.Text(),
		heard: make(map[int]bool), fitted: make(map[string]string)}
	if o.folder, err = makeFolder("opassert-" + kind.Name); err != nil {
		return nil, err
	}
	if err := o.open(); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// open fills the folder and listens. Processes of other users find the object and
// opassert too: messages need the secret.
func (o *SharedObject) open() error {
	text, err := os.ReadFile(o.file)
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(o.copy(), text, 0o755), os.Chmod(o.folder.Path, 0o711)); err != nil {
		return err
	}
	socket := filepath.Join(o.folder.Path, "socket")
	for _, name := range []string{socket, "@" + socket} {
		listener, err := net.Listen("unix", name)
		if err != nil {
			return err
		}
		o.listeners = append(o.listeners, listener)
	}
	return os.Chmod(socket, 0o666)
}

func (o *SharedObject) copy() string { return filepath.Join(o.folder.Path, "object.so") }

// separators separate the words of LD_PRELOAD.
const separators = " :"

// makeFolder makes a folder in that for temporary files, or elsewhere if its name has
// a space or is too long for a socket.
func makeFolder(prefix string) (folder *locked.Folder, err error) {
	const longest = 64
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if strings.ContainsAny(dir, separators) || len(dir) > longest || !filepath.IsAbs(dir) {
			continue
		}
		if folder, err = locked.NewFolder(dir, prefix); err == nil {
			return folder, nil
		}
	}
	return nil, fmt.Errorf("no folder for temporary files, with a path of at most %d bytes "+
		"and no space or colon in it: %w", longest, err)
}

func (o *SharedObject) environment(env []string) []string {
	file := o.file
	if strings.ContainsAny(file, separators) {
		file = o.copy()
	}
	for i, entry := range env {
		if old, ok := strings.CutPrefix(entry, "LD_PRELOAD="); ok && old != "" {
			file += ":" + old
			env = slices.Delete(env, i, i+1)
			break
		}
	}
	return append(env, "LD_PRELOAD="+file, o.kind.Variable+"="+o.value())
}

func (o *SharedObject) value() string {
	return strings.Join([]string{o.secret, o.answer, o.folder.Path, o.file}, ":")
}

// An AnswerFunc answers the frames of one connection.
type AnswerFunc func(Message) ([]byte, error)

// Serve answers frames until the object is closed. Frames other than requests for a
// library or memory go to the Answer of connect, which may be nil.
func (o *SharedObject) Serve(connect func() AnswerFunc) {
	for _, listener := range o.listeners {
		o.serving.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				o.serving.Go(func() { o.serve(conn.(*net.UnixConn), connect) })
			}
		})
	}
}

func (o *SharedObject) serve(conn *net.UnixConn, connect func() AnswerFunc) {
	defer conn.Close()
	secret := make([]byte, len(o.secret))
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(conn, secret); err != nil || subtle.ConstantTimeCompare(secret, []byte(o.secret)) == 0 {
		return
	}
	if _, err := io.WriteString(conn, o.answer); err != nil {
		return
	}
	conn.SetDeadline(time.Time{})
	pid, err := peer(conn)
	if err != nil {
		o.NotWatched(err.Error())
		return
	}
	o.mu.Lock()
	o.heard[pid] = true
	o.mu.Unlock()
	var answer AnswerFunc
	for {
		f, err := ReadMessage(conn)
		if err != nil {
			return
		}
		reply, file := Message{Kind: f.Kind}, (*os.File)(nil)
		switch {
		case f.Kind == fit:
			reply.Data, file = o.fit(string(f.Data))
		case f.Kind == memory && o.kind.Memory != nil:
			file, err = o.kind.Memory(pid, string(f.Data))
		case connect == nil:
			err = fmt.Errorf("a process sent a frame of kind %q", f.Kind)
		default:
			if answer == nil {
				answer = connect()
			}
			reply.Data, err = answer(f)
		}
		if err == nil {
			err = reply.send(conn, file)
		} else {
			o.NotWatched(err.Error())
		}
		if file != nil && f.Kind == fit {
			file.Close()
		}
		if err != nil {
			return
		}
	}
}

// fit answers a process that has loaded a target library: with the name of the
// fitting one and the open file, or nothing if none fits.
func (o *SharedObject) fit(library string) ([]byte, *os.File) {
	if why, ok := strings.CutPrefix(library, "!"); ok {
		o.NotWatched(why)
		return nil, nil
	}
	o.fitting.Lock()
	defer o.fitting.Unlock()
	known, ok := o.fitted[library]
	var err error
	if !ok {
		known, err = o.kind.Fit(library)
	}
	o.mu.Lock()
	o.fitted[library] = known
	o.mu.Unlock()
	if err != nil {
		o.NotWatched(err.Error())
		return nil, nil
	}
	file, _ := os.Open(known)
	return []byte(known), file
}

// NotWatched records the reason why a process is not watched.
func (o *SharedObject) NotWatched(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.unwatched, why) {
		o.unwatched = append(o.unwatched, why)
	}
}

// Unwatched returns the reasons why processes were not watched.
func (o *SharedObject) Unwatched() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.unwatched)
}

// Close ends Serve, after a short wait for frames that were sent already.
func (o *SharedObject) Close() error {
	errs := slicesx.Map(o.listeners, net.Listener.Close)
	done := make(chan struct{})
	go func() {
		o.serving.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
	}
	return errors.Join(append(errs, o.folder.Remove())...)
}

// A Program is a command to run.
type Program struct {
	Command        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Child          *Child // the program, if it runs already; nil: start it
}

// A Child is a process that waits for the objects, to open them itself: a child that this
// process forked before it became opassert, or one that started opassert beside itself.
type Child struct {
	Pid   int
	Waits *os.File // gets the file of each object and the value of its variable, each followed by a 0
}

// adopt has the child open the objects.
func (c *Child) adopt(objects []*SharedObject) (*exec.Cmd, programMark, error) {
	process, err := os.FindProcess(c.Pid)
	if err != nil {
		return nil, 0, err
	}
	m := markRunning(c.Pid)
	var text strings.Builder
	for _, o := range objects {
		text.WriteString(o.file + "\x00" + o.value() + "\x00")
	}
	_, err = io.WriteString(c.Waits, text.String())
	return &exec.Cmd{Process: process}, m, errors.Join(err, c.Waits.Close())
}

// start starts the program, unless it runs already.
func (p Program) start(objects []*SharedObject) (*exec.Cmd, programMark, error) {
	if p.Child != nil {
		return p.Child.adopt(objects)
	}
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	cmd.Env = os.Environ()
	for _, o := range objects {
		cmd.Env = o.environment(cmd.Env)
	}
	m, err := startMarked(cmd)
	return cmd, m, err
}

// An End is how a program ended.
type End struct {
	Status   int            // the exit status, or minus the number of the signal; 0 of a program that is no child
	Left     []string       // processes that still run, without anything to watch
	Commands map[int]string // the commands of its processes
}

// Run runs the program with the objects in all processes, and waits for those that it leaves running. It returns an
// error if the program was not started. Signals that interrupt this process are forwarded to the program; Run returns
// when that ends. The objects record the processes that were not watched.
func (p Program) Run(ctx context.Context, objects ...*SharedObject) (End, error) {
	signals := make(chan os.Signal, 8)
	if !p.beside() { // before the start: a signal that ends this process would leave the program running
		subprocess.Notify(signals)
		defer signal.Stop(signals)
	}
	cmd, m, err := p.start(objects)
	if err != nil {
		return End{}, err
	}
	ended := make(chan struct{})
	go forward(ctx, cmd.Process, signals, ended)
	scan := newProcScan(cmd.Process.Pid, m, objects)
	following := make(chan struct{})
	go func() {
		scan.follow(ended)
		close(following)
	}()
	err = p.wait(cmd)
	close(ended)
	<-following
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return End{}, err
	}
	return End{Status: StatusOf(cmd.ProcessState), Left: scan.await(p.Stderr, signals), Commands: scan.commands}, nil
}

// StatusOf returns the exit status, or minus the number of the signal; 0 for a process of which no end was observed.
func StatusOf(s *os.ProcessState) int {
	if s == nil {
		return 0
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return s.ExitCode()
}

// beside reports whether the program is not a child of this process: its status is not known, and
// this process may be interrupted alone.
func (p Program) beside() bool { return p.Child != nil && readStat(p.Child.Pid).parent != os.Getpid() }

func (p Program) wait(cmd *exec.Cmd) error {
	if !p.beside() {
		return cmd.Wait()
	}
	begun := readStat(cmd.Process.Pid).began
	for s := readStat(cmd.Process.Pid); !s.ended && s.began == begun; s = readStat(cmd.Process.Pid) {
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// forward forwards signals that interrupt this process to the program.
func forward(ctx context.Context, program *os.Process, signals <-chan os.Signal, ended <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			if s != os.Interrupt { // the terminal sends it to the program as well
				program.Signal(s)
			}
		case <-ctx.Done():
			program.Signal(syscall.SIGTERM)
			return
		case <-ended:
			return
		}
	}
}

// Torch returns the libtorch of a loaded library.
func Torch(library string) (*installed.Torch, error) {
	for dir := filepath.Dir(library); len(dir) > 1; dir = filepath.Dir(dir) {
		if torch, err := installed.Inspect(dir); err == nil && torch.Lib == filepath.Dir(library) {
			return torch, nil
		}
	}
	return nil, fmt.Errorf("%s belongs to no known PyTorch or libtorch", library)
}

// A Message is a message of either side: its kind and its length, each four bytes in the machine's order, then that
// many bytes. Each is answered by one of the same kind.
type Message struct {
	Kind byte
	Data []byte
}

// The kinds of frames that an object sends.
const (
	fit    = 'W' // the path of the target library, answered by that of the fitting one, or nothing; or "!" and an error
	memory = 'M' // the name of a memory, "" for that of all processes, answered by its file
)

// ReadMessage reads a frame.
func ReadMessage(r io.Reader) (Message, error) {
	const most = 1 << 30 // a broken peer could make this process allocate more
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Message{}, err
	}
	n := binary.NativeEndian.Uint32(head[4:])
	if n > most {
		return Message{}, fmt.Errorf("a frame of %d bytes", n)
	}
	f := Message{Kind: byte(binary.NativeEndian.Uint32(head[:])), Data: make([]byte, n)}
	_, err := io.ReadFull(r, f.Data)
	return f, err
}

func (f Message) head() []byte {
	head := binary.NativeEndian.AppendUint32(nil, uint32(f.Kind))
	return binary.NativeEndian.AppendUint32(head, uint32(len(f.Data)))
}
