package tool

import (
	"os"
	"os/exec"
	"syscall"
)

var childSignal os.Signal

// Lead keeps Ctrl-C from a program, which would otherwise often end before this one does, as if it had
// failed. Kill kills the program alone.
func Lead(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func Kill(cmd *exec.Cmd) { cmd.Process.Kill() }

func (p *printed) drain() {}
