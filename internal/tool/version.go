package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ptxlink/link/diag"
)

// Patience is how long a program may take to print its version. Tests change it.
var Patience = 10 * time.Second

// ErrHangs is what the error of Version wraps if the program does not end.
var ErrHangs = errors.New("it does not end")

// Version returns what a program prints with --version; nothing of one that cannot be run or fails. It
// is an error, a *diag.Message, if the program does not end within Patience.
func Version(ctx context.Context, path string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	out, err := Run(limited, Command{Path: path, Args: []string{"--version"}, Apart: true})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("%s --version has not ended after %v", path, Patience))
		m.Err = ErrHangs
		return nil, m
	case err != nil || !out.State.Success():
		return nil, nil
	}
	return out.Said, nil
}
