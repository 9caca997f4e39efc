package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ptxlink/link/diag"
)

// Patience is how long a program may take to print its version. It is a variable for tests.
var Patience = 10 * time.Second

// ErrHangs is what the error of Version wraps if the program does not end.
var ErrHangs = errors.New("it does not end")

// Version returns what a program prints with --version; nothing of one that cannot be run or fails. It
// is an error, a *diag.Message, if the program does not end in time.
func Version(ctx context.Context, path string) ([]byte, error) {
	said, ok, err := TryVersion(ctx, path)
	if !ok {
		return nil, err
	}
	return said, err
}

// TryVersion returns what a program prints with --version, and whether it succeeds. The error is that of Version.
func TryVersion(ctx context.Context, path string) (said []byte, ok bool, err error) {
	limited, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	out, err := Run(limited, Command{Path: path, Args: []string{"--version"}, Apart: true})
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case limited.Err() != nil:
		m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("%s --version has not ended after %v", path, Patience))
		m.Err = ErrHangs
		return nil, false, m
	case err != nil:
		return nil, false, nil
	}
	return out.Said, out.State.Success(), nil
}
