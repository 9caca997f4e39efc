//go:build !linux

package tool

import "os/exec"

func setup(cmd *exec.Cmd) { Lead(cmd) }
