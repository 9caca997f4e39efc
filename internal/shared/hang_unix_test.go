//go:build unix

package shared

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestHangs ends a program that does not answer, with what it has started: after its time, or at once if
// the context is done.
func TestHangs(t *testing.T) {
	scripts := map[string]string{
		"silent": "sleep 60 & wait",
		"mute":   `echo '{"ID":0,"KnownCommands":["get","put","close"]}'; sleep 60 & wait`,
		"stays":  `echo '{"ID":0,"KnownCommands":["get","put"]}'; read r; echo '{"ID":1,"Miss":true}'; sleep 60 & wait`,
	}
	for name, script := range scripts {
		for _, cancelled := range []bool{false, true} {
			dir := t.TempDir()
			held := filepath.Join(dir, "held") // by the program and its child
			if err := syscall.Mkfifo(held, 0o600); err != nil {
				t.Skip(err)
			}
			program := filepath.Join(dir, name)
			os.WriteFile(program, []byte("#!/bin/sh\nexec 9>"+held+"\n"+script+"\n"), 0o700)
			patience := 200 * time.Millisecond
			if cancelled {
				patience = time.Minute
			}
			s, err := open("prog:"+program, patience)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				f, err := os.Open(held)
				if err == nil {
					if cancelled {
						cancel()
					}
					_, err = io.Copy(io.Discard, f)
				}
				ended <- err
			}()
			start := time.Now()
			if _, err := s.Get(ctx, key); err == nil && name != "stays" {
				t.Errorf("%s: no error", name)
			}
			s.Close(ctx)
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s, cancelled %v: its child runs on", name, cancelled)
			}
			if d := time.Since(start); d > 8*time.Second {
				t.Errorf("%s, cancelled %v: it took %v", name, cancelled, d)
			}
			cancel()
		}
	}
}
