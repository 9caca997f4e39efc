package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ptxlink/internal/oracles"
	"ptxlink/internal/shared"
)

var key = strings.Repeat("1f", 32)

// dav keeps what is put, as nginx with DAV does.
func dav() http.HandlerFunc {
	var mu sync.Mutex
	kept := map[string][]byte{}
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPut {
			kept[r.URL.Path], _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusCreated)
		} else if data, found := kept[r.URL.Path]; found {
			w.Write(data)
		} else {
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

// through returns the store of a server behind ptxlink-cache, as ptxlink has it.
func through(t *testing.T, where string) *shared.Store {
	t.Helper()
	program := filepath.Join(t.TempDir(), "ptxlink-cache")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	s, err := shared.Open(where)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHTTP keeps data on a server, and finds it by Bazel's layout.
func TestHTTP(t *testing.T) {
	handler := dav()
	server := httptest.NewServer(handler)
	defer server.Close()
	s := through(t, server.URL+"/some/path")
	defer s.Close(t.Context())
	if data, err := s.Get(t.Context(), key); data != nil || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	for _, want := range [][]byte{[]byte("data"), {}, bytes.Repeat([]byte("x"), 1<<20)} {
		if err := s.Put(t.Context(), key, want); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
		}
	}
	sum := sha256.Sum256([]byte("data"))
	blob := server.URL + "/some/path/cas/" + hex.EncodeToString(sum[:])
	answer, err := http.Get(blob)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", answer, err)
	}
	// ptxlink hears of damage, so that it can warn.
	for _, name := range []string{"cas/" + hex.EncodeToString(sum[:]), "ac/" + key} {
		if err := s.Put(t.Context(), key, []byte("data")); err != nil {
			t.Fatal(err)
		}
		request, _ := http.NewRequest(http.MethodPut, server.URL+"/some/path/"+name, strings.NewReader("atad"))
		if _, err := http.DefaultClient.Do(request); err != nil {
			t.Fatal(err)
		}
		if data, err := s.Get(t.Context(), key); !errors.Is(err, shared.ErrDamaged) {
			t.Errorf("damaged %s: %q, %v", name, data, err)
		}
	}
}

// TestNginx keeps data on nginx with DAV, which also refuses what is too large.
func TestNginx(t *testing.T) {
	nginx := oracles.RequireCompiler(t, "nginx")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	dir := t.TempDir()
	config := fmt.Sprintf(`daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
	access_log off; client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
	server {
		listen %s; root %s/kept;
		location / { dav_methods PUT; create_full_put_path on; client_max_body_size 2m; }
	}
}
`, address, dir)
	for _, name := range []string{"tmp", "kept"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	command := exec.Command(nginx, "-p", dir, "-c", "nginx.conf", "-e", "stderr")
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait(); close(ended) }()
	defer func() {
		command.Process.Kill()
		<-ended
	}()
	s := through(t, "http://"+address+"/cache")
	defer s.Close(t.Context())
	oracles.Await(func() bool { // until it listens
		select {
		case <-ended:
			t.Fatalf("nginx ended\n%s", &said)
		default:
		}
		_, err = s.Get(t.Context(), key)
		return err == nil
	})
	want := bytes.Repeat([]byte("x"), 1<<20)
	if err := s.Put(t.Context(), key, want); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := s.Put(t.Context(), key, make([]byte, 3<<20)); err == nil {
		t.Error("3 MiB are accepted")
	}
	if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after a refusal: %d bytes, %v", len(got), err)
	}
}

// TestRecord reads what another implementation of protocol buffers writes: an ActionResult
// with an output file, whose fields are in another order, and an exit code.
func TestRecord(t *testing.T) {
	digest := strings.Repeat("a0", 32)
	file := "\x12\x45\x0a\x40" + digest + "\x10\x80\x02" + "\x0a\x01f"
	record := "\x20\x00" + "\x12" + string(rune(len(file))) + file
	if got, size, ok := readRecord([]byte(record)); got != digest || size != 256 || !ok {
		t.Errorf("%q, %d, %v", got, size, ok)
	}
	if got, size, ok := readRecord(writeRecord(digest, 1<<40)); got != digest || size != 1<<40 || !ok {
		t.Errorf("%q, %d, %v", got, size, ok)
	}
	for i := range record {
		readRecord([]byte(record[:i]))
	}
}

// TestBadServers asks servers that are dead, slow, full or lie. None costs more than its time,
// and none returns what was not kept.
func TestBadServers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	answers := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	announcing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", "4611686018427387904")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer announcing.Close()
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached.Add(1) }))
	defer other.Close()
	redirecting := func(host string) string {
		to := strings.Replace(other.URL, "127.0.0.1", host, 1)
		server := httptest.NewServer(http.RedirectHandler(to, http.StatusTemporaryRedirect))
		t.Cleanup(server.Close)
		return server.URL
	}
	digest := strings.Repeat("ab", 32)
	for _, c := range []struct{ name, where, get, put string }{
		{"dead", "http://" + closed.Addr().String(), "connect", "connect"},
		{"silent", "http://" + silent.Addr().String(), "timeout", "timeout"},
		{"full", answers(http.StatusInsufficientStorage, ""), "507", "507"},
		{"forbidden", answers(http.StatusForbidden, ""), "403", "403"},
		{"endless", endless.URL, "more than", ""},
		{"announcing", announcing.URL, "more than", ""},
		{"redirecting", redirecting("localhost"), "it redirects to http://localhost:", "it redirects to http://localhost:"},
		{"another record", answers(http.StatusOK, "hello"), "something else", ""},
		{"another blob", answers(http.StatusOK, string(writeRecord(digest, 70))), "more than", ""},
		{"no host", "http:///path", "", ""},
	} {
		patience := time.Hour
		if c.name == "silent" {
			patience = 200 * time.Millisecond
		}
		s, err := open(c.where, patience)
		if c.name == "no host" {
			if err == nil {
				t.Errorf("%s: no error", c.name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		is := func(err error, want string) bool {
			return (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want))
		}
		if data, err := s.Get(t.Context(), key); data != nil || !is(err, c.get) {
			t.Errorf("%s: %q, %v, want %q", c.name, data, err, c.get)
		}
		if err := s.Put(t.Context(), key, []byte("data")); !is(err, c.put) {
			t.Errorf("%s: put: %v, want %q", c.name, err, c.put)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests went to another host", n)
	}
	s, _ := open(redirecting("127.0.0.1"), time.Hour)
	if err := s.Put(t.Context(), key, []byte("data")); err != nil || reached.Load() == 0 {
		t.Errorf("a server that redirects to itself: %v", err)
	}
	if _, err := open("http://user:secret@ho st", time.Hour); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
