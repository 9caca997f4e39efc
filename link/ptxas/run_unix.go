//go:build unix

package ptxas

import (
	"os/exec"
	"syscall"
)

// group puts a program into a process group of its own, which is killed as a whole: a
// wrapper script may have started the real ptxas.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
