package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"ptxlink/internal/shared"
)

// server is a server with Bazel's layout (bazel.build/remote/caching): ac/KEY is a record that
// names cas/DIGEST, which holds the data.
type server struct {
	base   *url.URL
	client http.Client
}

// open returns the server at an address. patience is the time in which it must start to answer; it
// may take ten times as long to send everything.
func open(where string, patience time.Duration) (*server, error) {
	base, err := url.Parse(where)
	if err == nil && base.Host == "" {
		err = errors.New("it names no host")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not the address of a server: %w", shared.Redacted(where), cause(err))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: patience}).DialContext
	transport.ResponseHeaderTimeout = patience
	return &server{base: base, client: http.Client{Transport: transport, Timeout: 10 * patience, CheckRedirect: sameHost}}, nil
}

// sameHost lets a server redirect only to itself, because the user has not named another host.
func sameHost(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	if to.URL.Hostname() != from.Hostname() || from.Scheme == "https" && to.URL.Scheme != "https" {
		return fmt.Errorf("it redirects to %s://%s", to.URL.Scheme, to.URL.Host)
	}
	if len(via) > 5 {
		return errors.New("it redirects too often")
	}
	return nil
}

// cause returns the cause of an error of package net/url, because the error itself would repeat the
// address.
func cause(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (s *server) Get(ctx context.Context, key string) ([]byte, error) {
	if err := shared.CheckKey(key); err != nil {
		return nil, err
	}
	record, err := s.get(ctx, "ac", key, 1<<20)
	if record == nil || err != nil {
		return nil, err
	}
	digest, size, ok := readRecord(record)
	if !ok || size > shared.MaxSize {
		return nil, shared.ErrDamaged
	}
	data, err := s.get(ctx, "cas", digest, size)
	if sum := sha256.Sum256(data); err == nil && data != nil && hex.EncodeToString(sum[:]) != digest {
		return nil, shared.ErrDamaged
	}
	return data, err
}

func (s *server) Put(ctx context.Context, key string, data []byte) error {
	if err := shared.CheckKey(key); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if err := s.put(ctx, "cas", digest, data); err != nil {
		return err
	}
	return s.put(ctx, "ac", key, writeRecord(digest, int64(len(data))))
}

// get returns the data at a path, or nil if the server has none. More bytes than most are an error.
func (s *server) get(ctx context.Context, kind, name string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(kind, name).String(), nil)
	if err != nil {
		return nil, cause(err)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, cause(err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusNoContent, http.StatusGone:
		return nil, nil
	default:
		return nil, fmt.Errorf("it answers %s", answer.Status)
	}
	var data []byte
	if answer.ContentLength <= most { // or -1; do not wait for unwanted data
		data, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	}
	if err == nil && max(int64(len(data)), answer.ContentLength) > most {
		err = fmt.Errorf("it sends more than the %d bytes that it promised", most)
	}
	if err != nil {
		return nil, cause(err)
	}
	return data, nil
}

func (s *server) put(ctx context.Context, kind, name string, data []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, s.base.JoinPath(kind, name).String(), bytes.NewReader(data))
	if err != nil {
		return cause(err)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return cause(err)
	}
	defer answer.Body.Close()
	if answer.ContentLength <= 1<<16 { // the connection can then be used again
		io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}

// A record is an ActionResult of Bazel's remote execution API (remote_execution.proto) with one
// output file, in the encoding of protocol buffers. It must have this form because servers such as
// bazel-remote read it.
const outputFiles, filePath, fileDigest, digestHash, digestSize = 2, 1, 2, 1, 2

func writeRecord(digest string, size int64) []byte {
	field := func(to []byte, number int, data []byte) []byte {
		to = binary.AppendUvarint(append(to, byte(number<<3|2)), uint64(len(data)))
		return append(to, data...)
	}
	d := field(nil, digestHash, []byte(digest))
	d = binary.AppendUvarint(append(d, digestSize<<3), uint64(size))
	return field(nil, outputFiles, field(field(nil, filePath, []byte("entry.ptxlink")), fileDigest, d))
}

// readRecord returns the digest and size of the first output file of a record.
func readRecord(record []byte) (digest string, size int64, ok bool) {
	file, _ := protoField(record, outputFiles)
	d, _ := protoField(file, fileDigest)
	hash, _ := protoField(d, digestHash)
	_, n := protoField(d, digestSize)
	return string(hash), int64(n), shared.CheckKey(string(hash)) == nil && int64(n) >= 0
}

// protoField returns the first field with a number, as bytes or as a number.
func protoField(message []byte, number uint64) (data []byte, value uint64) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return nil, 0
		}
		message = message[n:]
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(message)
			if n <= 0 {
				return nil, 0
			}
			if tag>>3 == number {
				return nil, v
			}
			message = message[n:]
		case 2:
			size, n := binary.Uvarint(message)
			if n <= 0 || size > uint64(len(message)-n) {
				return nil, 0
			}
			if tag>>3 == number {
				return message[n:][:size], 0
			}
			message = message[n+int(size):]
		default: // fields of ActionResult before it have no other type
			return nil, 0
		}
	}
	return nil, 0
}
