package preload

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"
)

// NewMemory returns memory that processes may share, as an anonymous file.
func NewMemory(name string, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Map maps a file into memory that its writers see.
func Map(f *os.File, size int) (memory []byte, unmap func() error, err error) {
	memory, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return memory, func() error { return unix.Munmap(memory) }, err
}

// marking is held while this process has the mark, for a child to inherit.
var marking sync.Mutex

func startMarked(cmd *exec.Cmd) (programMark, error) {
	marking.Lock()
	defer marking.Unlock()
	m, was := newMark()
	if m != 0 {
		unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: uint64(m), Max: was.Max})
		defer unix.Setrlimit(unix.RLIMIT_RTTIME, &was)
	}
	return m, cmd.Start()
}

func markRunning(pid int) programMark {
	m, was := newMark()
	if m == 0 || unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: uint64(m), Max: was.Max}, nil) != nil {
		return 0
	}
	return m
}

// newMark returns a mark, 0 if the user has set that limit, and the limit.
func newMark() (m programMark, was unix.Rlimit) {
	const least = 1 << 62 // microseconds
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &was); err == nil && was.Cur >= least && was.Max == unix.RLIM_INFINITY {
		m = least + programMark(rand.Uint64N(least))
	}
	return m, was
}

// peer returns the process at the other end, by its number in this process's namespace.
func peer(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		var ucred *unix.Ucred
		if ucred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); failed == nil {
			pid = int(ucred.Pid)
		}
	})
	return pid, errors.Join(err, failed)
}

func (f Message) send(conn *net.UnixConn, file *os.File) error {
	if file == nil {
		_, err := conn.Write(append(f.head(), f.Data...))
		return err
	}
	if _, _, err := conn.WriteMsgUnix(f.head(), unix.UnixRights(int(file.Fd())), nil); err != nil {
		return err
	}
	_, err := conn.Write(f.Data)
	return err
}
