package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ptxlink/link/diag"
)

// patience is how long a program may take to print its version.
const patience = 10 * time.Second

type patienceKey struct{}

// WithPatience returns a context in which a program may take another time to print its version.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

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
	limit, ok := ctx.Value(patienceKey{}).(time.Duration)
	if !ok {
		limit = patience
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := Run(limited, Command{Path: path, Args: []string{"--version"}, Apart: true})
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case limited.Err() != nil:
		m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("%s --version has not ended after %v", path, limit))
		m.Err = ErrHangs
		return nil, false, m
	case err != nil:
		return nil, false, nil
	}
	return out.Said, out.State.Success(), nil
}
