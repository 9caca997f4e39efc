//go:build unix

package tool

import (
	"os"
	"os/exec"
	"syscall"
)

var childSignal os.Signal = syscall.SIGCHLD

// Lead makes a program, before its start, the leader of a process group.
func Lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Kill kills a program that leads a process group, and what it has started.
func Kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// drain reads the contents of the pipe, without waiting for more.
func (p *printed) drain() {
	conn, err := p.r.SyscallConn()
	if err != nil {
		return
	}
	data := make([]byte, 1<<16)
	for n := 1; n > 0; {
		if conn.Read(func(fd uintptr) bool {
			for {
				if n, err = syscall.Read(int(fd), data); err != syscall.EINTR {
					return true
				}
			}
		}) != nil || err != nil || n <= 0 {
			return
		}
		p.Write(data[:n])
	}
}
