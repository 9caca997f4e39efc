package gen

import _ "embed"

// Tiny is a program of two modules: a kernel and the function that it calls.
var Tiny = [2]string{tinyKernel, tinyHelper}

var (
	//go:embed kernel.ptx
	tinyKernel string
	//go:embed helper.ptx
	tinyHelper string
)
