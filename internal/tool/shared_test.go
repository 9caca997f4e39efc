package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var key = strings.Repeat("1f", 32)

// TestProgram keeps data with a program that speaks the protocol of GOCACHEPROG.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PTXLINK_CACHE_PROGRAM", dir)
	s, err := openStore(os.Args[0]+" keep", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get(t.Context(), key); data != nil || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			key, want := fmt.Sprintf("%064x", i), bytes.Repeat([]byte{byte(i)}, 100_000)
			if err := s.Put(t.Context(), key, want); err != nil {
				t.Error(err)
			}
			if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	all.Wait()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for kind, want := range map[string]string{"flood": "more than it was asked for", "chatter": "more than it was asked for", "die": "ended", "silent": "says nothing", "refuse": "no room"} {
		patience := time.Hour
		if kind == "silent" {
			patience = 200 * time.Millisecond
		}
		s, err := openStore(os.Args[0]+" "+kind, patience)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), key, []byte("data")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
		s.Close(t.Context())
	}
	s, _ = OpenStore("/no/such/program")
	if _, err := s.Get(t.Context(), key); err == nil {
		t.Error("no error")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := OpenStore(" "); err == nil {
		t.Error("no command is no error")
	}
}

// cacheProgram is a program of TestProgram.
func cacheProgram(dir, kind string) {
	for kind == "silent" {
		time.Sleep(time.Minute)
	}
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]any{"ID": 0, "KnownCommands": []string{"get", "put", "close"}})
	in := json.NewDecoder(os.Stdin)
	for {
		var r struct {
			ID                 int64
			Command            string
			ActionID, OutputID []byte
			BodySize           int64
		}
		if kind == "die" || in.Decode(&r) != nil {
			return
		}
		path := filepath.Join(dir, hex.EncodeToString(r.ActionID))
		for kind == "flood" {
			os.Stdout.WriteString(`{"Err":"` + strings.Repeat("x", 1<<22))
		}
		for kind == "chatter" {
			out.Encode(map[string]any{"ID": 7})
		}
		switch r.Command {
		case "put":
			var body []byte
			if r.BodySize > 0 {
				in.Decode(&body)
			}
			if sum := sha256.Sum256(body); kind == "refuse" || !bytes.Equal(sum[:], r.OutputID) {
				out.Encode(map[string]any{"ID": r.ID, "Err": "no room"})
				continue
			}
			os.WriteFile(path, body, 0o600)
			out.Encode(map[string]any{"ID": r.ID, "DiskPath": path})
		case "get":
			if _, err := os.Stat(path); err != nil {
				out.Encode(map[string]any{"ID": r.ID, "Miss": true})
			} else {
				out.Encode(map[string]any{"ID": r.ID, "DiskPath": path})
			}
		case "close":
			out.Encode(map[string]any{"ID": r.ID})
			return
		}
	}
}
