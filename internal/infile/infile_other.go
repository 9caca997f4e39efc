//go:build !unix

package infile

const nonblock = 0
