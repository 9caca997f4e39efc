//go:build !unix

package infile

import (
	"errors"
	"io/fs"
)

const nonblock, nofollow = 0, 0

var isLink = errors.New("it is a symbolic link")

func own(fs.FileInfo) bool { return true }
