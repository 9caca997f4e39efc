package tool

import (
	"os/exec"
	"syscall"
)

// setup is Lead. The program also ends with this process, even if that is killed; what it has
// started itself does not.
func setup(cmd *exec.Cmd) {
	Lead(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
