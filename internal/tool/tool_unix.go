//go:build unix

package tool

import (
	"os"
	"os/exec"
	"syscall"
)

var childSignal os.Signal = syscall.SIGCHLD

// kill kills a program and what it has started, whose process group it leads.
func kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// drain reads what is in the pipe, without waiting for more.
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
