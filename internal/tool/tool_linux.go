package tool

import (
	"os/exec"
	"syscall"
)

// setup makes the program the leader of a process group. It ends with this process, even
// if that is killed; what it has started itself does not.
func setup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
