//go:build !unix

package infile

import "errors"

func mapFile(uintptr, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }

func dropPages([]byte) {}
