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
	limit, ok := ctx.Value(patienceKey{}).(time.Duration)
	if !ok {
		limit = patience
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := Run(limited, Command{Path: path, Args: []string{"--version"}, Apart: true})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("%s --version has not ended after %v", path, limit))
		m.Err = ErrHangs
		return nil, m
	case err != nil || !out.State.Success():
		return nil, nil
	}
	return out.Said, nil
}
