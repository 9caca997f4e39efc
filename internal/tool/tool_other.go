//go:build !unix

package tool

import (
	"os"
	"os/exec"
)

var childSignal os.Signal

func setup(*exec.Cmd) {}

// kill kills the program alone.
func kill(cmd *exec.Cmd) { cmd.Process.Kill() }

func (p *printed) drain() {}
