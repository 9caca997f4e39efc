//go:build unix

package tool

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ptxlink/internal/oracles"
)

// TestHangs ends a program that does not answer, with what it has started: after its time, or at once if
// the context is done.
func TestHangs(t *testing.T) {
	const forever = "tail -f /dev/null & wait"
	scripts := map[string]string{
		"silent": forever,
		"mute":   `echo '{"ID":0,"KnownCommands":["get","put","close"]}'; ` + forever,
		"stays":  `echo '{"ID":0,"KnownCommands":["get","put"]}'; read r; echo '{"ID":1,"Miss":true}'; ` + forever,
	}
	for name, script := range scripts {
		for _, cancelled := range []bool{false, true} {
			dir := t.TempDir()
			held := filepath.Join(dir, "held") // by the program and its child
			if err := syscall.Mkfifo(held, 0o600); err != nil {
				t.Skip(err)
			}
			holders, err := os.OpenFile(held, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, name)
			os.WriteFile(program, []byte("#!/bin/sh\nexec 9>"+held+"\n: >"+program+".runs\n"+script+"\n"), 0o700)
			ctx, cancel := context.WithCancel(t.Context())
			patience := 200 * time.Millisecond
			if cancelled {
				patience = 24 * time.Hour
				go func() {
					oracles.Await(func() bool { _, err := os.Stat(program + ".runs"); return err == nil })
					cancel()
				}()
			}
			s, err := openStore(program, patience)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Get(ctx, key); err == nil && name != "stays" {
				t.Errorf("%s: no error", name)
			}
			s.Close(ctx)
			if _, err := io.Copy(io.Discard, holders); err != nil { // returns when nobody holds it
				t.Error(err)
			}
			holders.Close()
			cancel()
		}
	}
}
