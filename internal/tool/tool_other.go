//go:build !unix

package tool

import (
	"os"
	"os/exec"
)

var childSignal os.Signal

func setup(*exec.Cmd) {}

// Lead does nothing, and Kill kills the program alone.
func Lead(*exec.Cmd) {}

func Kill(cmd *exec.Cmd) { cmd.Process.Kill() }

func (p *printed) drain() {}
