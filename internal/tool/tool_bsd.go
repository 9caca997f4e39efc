//go:build unix && !linux

package tool

import (
	"os/exec"
	"syscall"
)

// setup makes the program the leader of a process group.
func setup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
