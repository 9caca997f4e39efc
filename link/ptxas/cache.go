package ptxas

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/internal/tool"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// DefaultCacheSize is the limit of a cache in bytes, if none is given.
const DefaultCacheSize = 1 << 30

// Cache keeps the output of ptxas, nvlink and compilers of bitcode in a directory, by content:
//
//  1. The key is a digest of the text, or of the digests of the inputs, the version of the
//     program and its arguments. The value is the output and the messages, which are
//     placed in the inputs of the link that uses them.
//  2. An entry has a digest of itself and its key. A damaged entry is replaced. So is
//     an entry that is not a regular file of the user, such as a symbolic link, which must
//     not be followed.
//  3. Entries are written whole, so several links may share the directory.
//  4. The entries used least recently are removed when the directory exceeds its limit.
//     Files with other names are left alone.
//  5. Nothing is kept of a run that failed, and an error of the cache cannot fail a link.
type Cache struct {
	Dir string // empty if there is only Shared
	// Shared is asked for entries that Dir lacks, and gets the output of ptxas and nvlink; it may
	// be nil. Its entries must be checked: the digest, and that the content is a cubin. A damaged
	// entry is written again. After the first error, or several such entries, Shared is not used
	// again.
	Shared Store
	// Size is the limit in bytes; 0 means DefaultCacheSize.
	Size int64

	mu       sync.Mutex
	versions map[string]string // by path of the program; "" if it is unknown
	problem  error             // the first problem
	lost     error             // the first error of Shared
	damaged  int               // number of damaged entries of Shared
	warned   int               // number of damaged entries that were reported
	told     bool              // problem was reported
	puts     sync.WaitGroup    // requests to Shared
	stored   bool
	// Hits and Misses count the runs of ptxas and nvlink that were saved and that were made.
	Hits, Misses int
}

// Store is a cache that several machines share.
type Store interface {
	// Get returns the data stored under a key of 64 hexadecimal digits, or nil.
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, data []byte) error
	// Close ends the use of the cache. If ctx is done, it must not wait for requests.
	Close(ctx context.Context) error
	String() string // its name in messages
}

// OpenCache returns the cache at a place: a directory, or prog:COMMAND, a program that speaks Go's
// GOCACHEPROG protocol. A shared cache must be closed.
func OpenCache(where string) (*Cache, error) {
	command, program := strings.CutPrefix(where, "prog:")
	if !program {
		if scheme, _, server := strings.Cut(where, "://"); server {
			return nil, fmt.Errorf("the cache is the address of a server (%s://), which only a program can speak to", scheme)
		}
		return &Cache{Dir: where}, nil
	}
	store, err := tool.OpenStore(command)
	if err != nil {
		return nil, err
	}
	return &Cache{Shared: store}, nil
}

// Close waits until Shared has what was stored, and ends its use; see Store.Close.
func (c *Cache) Close(ctx context.Context) error {
	if c.Shared == nil {
		return nil
	}
	c.puts.Wait()
	return c.Shared.Close(ctx)
}

// result is the output of a successful run of ptxas or nvlink.
type result struct {
	said  string
	cubin []byte
}

const (
	entrySuffix = ".ptxlink"
	entryMagic  = "ptxlink cache 1\n"
	maxEntry    = 1 << 30 // bytes

	mostDamaged = 3 // entries of a shared cache that are written again
)

// Key returns the name of the entry for one run; "" if nothing can be kept, for example because c
// is nil.
func (c *Cache) Key(ctx context.Context, path string, args []string, text []byte) string {
	if c == nil {
		return ""
	}
	// A run with a file of options cannot be kept, because the contents of the file are not in the
	// key.
	if given(args, "-optf", "--options-file") || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "@") }) {
		return ""
	}
	version := c.version(ctx, path)
	if version == "" {
		return ""
	}
	h := sha256.New()
	for _, part := range append([]string{entryMagic, version}, args...) {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	fmt.Fprintf(h, "%d\n", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// version returns the output of the program for --version. It is kept under the path, size and time
// of the program. It cannot be kept for a script, which may run any program.
func (c *Cache) version(ctx context.Context, path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version, ok := c.versions[path]; ok {
		return version
	}
	name := ""
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if info, err := os.Stat(real); err == nil && !isScript(real) {
			digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d", real, info.Size(), info.ModTime().UnixNano()))
			name = hex.EncodeToString(digest[:])
		}
	}
	var version string
	if kept, ok := c.read(name); ok {
		version = kept.said
	} else {
		said, err := tool.Version(ctx, path)
		if err != nil {
			c.note(err)
		}
		version = string(bytes.TrimSpace(said))
		if version != "" && name != "" && c.Dir != "" {
			c.write(name, result{said: version})
		}
	}
	sets.Put(&c.versions, path, version)
	return version
}

func isScript(path string) bool {
	start := infile.Head(path, 2)
	return start == nil || string(start) == "#!"
}

// load returns the entry of a key, unless check refuses its cubin.
func (c *Cache) load(ctx context.Context, key string, check func(cubin []byte) error) (r result, ok bool) {
	c.mu.Lock()
	r, ok = c.read(key)
	ask := !ok && key != "" && c.Shared != nil && c.lost == nil
	c.mu.Unlock()
	var data []byte
	var err error
	if ask {
		data, err = c.Shared.Get(ctx, key)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	damaged := errors.Is(err, tool.ErrDamaged)
	if damaged {
		err = nil
	}
	if c.lose(ctx, err); damaged || data != nil && err == nil {
		if r, ok = decodeEntry(key, data); ok && check(r.cubin) != nil {
			r, ok = result{}, false
		}
		if !ok {
			if c.damaged++; c.damaged > mostDamaged {
				c.lose(ctx, errors.New("it has returned several damaged entries"))
			}
		} else if c.Dir != "" {
			c.write(key, r)
		}
	}
	if ok {
		c.Hits++
	} else {
		c.Misses++
	}
	return r, ok
}

// Kept returns the result that was kept under a key if check accepts it; otherwise it calls run,
// and keeps and returns the result. cached reports whether run was not called. c may be nil.
func (c *Cache) Kept(ctx context.Context, key string, check func([]byte) error, run func() (said string, data []byte, err error)) (said string, data []byte, cached bool, err error) {
	if c != nil {
		if r, ok := c.load(ctx, key, check); ok {
			return r.said, r.cubin, true, nil
		}
	}
	if said, data, err = run(); err == nil && key != "" {
		c.store(ctx, key, result{said, data})
	}
	return said, data, false, err
}

// Digests returns the digests of units, for Cache.Key.
func Digests(units []container.Unit) (list []byte) {
	for _, u := range units {
		list = append(list, digests(u.Data)...)
	}
	return list
}

func digests(inputs ...[]byte) (list []byte) {
	for _, data := range inputs {
		digest := sha256.Sum256(data)
		list = append(list, digest[:]...)
	}
	return list
}

// lose records an error of Shared, unless the link was cancelled, since the cache is then not at
// fault.
func (c *Cache) lose(ctx context.Context, err error) {
	if err != nil && c.lost == nil && ctx.Err() == nil {
		c.lost = err
	}
}

func (c *Cache) store(ctx context.Context, key string, r result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Dir != "" {
		c.write(key, r)
		c.stored = true
	}
	if c.Shared == nil || c.lost != nil || key == "" {
		return
	}
	c.puts.Go(func() { // ptxas must not wait for it
		err := c.Shared.Put(ctx, key, encodeEntry(key, r))
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lose(ctx, err)
	})
}

func (c *Cache) file(key string) string { return filepath.Join(c.Dir, key+entrySuffix) }

func (c *Cache) read(key string) (r result, ok bool) {
	if key == "" || c.Dir == "" {
		return r, false
	}
	data, err := infile.ReadOwn(c.file(key), maxEntry)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist) {
			c.note(fmt.Errorf("cannot read the cache %s: %w", c.Dir, outfile.Reason(err)))
		}
		return r, false
	}
	if r, ok = decodeEntry(key, data); ok {
		now := time.Now()
		os.Chtimes(c.file(key), now, now) // fails if it is read-only
	}
	return r, ok
}

func (c *Cache) write(key string, r result) {
	err := os.MkdirAll(c.Dir, 0o777)
	if err == nil {
		err = outfile.Keep(c.file(key), encodeEntry(key, r))
	}
	if err != nil {
		c.note(fmt.Errorf("cannot write the cache %s: %w", c.Dir, outfile.Reason(err)))
	}
}

func (c *Cache) note(err error) {
	c.problem = cmp.Or(c.problem, err)
}

// Finish removes old entries and reports the first problem, once.
func (c *Cache) Finish(log *diag.Log) {
	if c == nil {
		return
	}
	c.puts.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored && c.problem == nil {
		c.trim()
	}
	var hangs *diag.Message
	switch {
	case errors.As(c.problem, &hangs):
		log.Warn(diag.Cache, diag.Place{}, "the cache is not used: "+hangs.Text)
	case c.problem != nil:
		log.Warn(diag.Cache, diag.Place{}, c.problem.Error()).WithHelp("the link does not need it; name another directory with " + log.With("--cache-dir", "%s or ") + "$PTXLINK_CACHE")
	}
	c.problem = nil
	if c.lost != nil && !c.told {
		c.told = true
		log.Warn(diag.Cache, diag.Place{}, fmt.Sprintf("cannot use the cache %s: %v", c.Shared, c.lost)).WithHelp("the link does not need it; name another cache with " + log.With("--cache", "%s or ") + "$PTXLINK_CACHE")
	} else if c.damaged > c.warned && c.lost == nil {
		log.Warn(diag.Cache, diag.Place{}, fmt.Sprintf("the cache %s returned a damaged entry, which is rewritten", c.Shared))
		c.warned = c.damaged
	}
	c.stored = false
}

// trim removes the entries that were used least recently until a tenth of the limit is free,
// because otherwise the next link would have to do so again. Another link may remove the same
// entries.
func (c *Cache) trim() {
	limit := cmp.Or(c.Size, DefaultCacheSize)
	list, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range list {
		info, err := entry.Info()
		switch name := entry.Name(); {
		case err != nil || !info.Mode().IsRegular():
		case len(name) == 2*sha256.Size+len(entrySuffix) && strings.HasSuffix(name, entrySuffix):
			files = append(files, info)
			total += info.Size()
		case outfile.IsTemporary(name) && time.Since(info.ModTime()) > time.Hour: // its process was killed
			os.Remove(filepath.Join(c.Dir, name))
		}
	}
	if total <= limit {
		return
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range files {
		if total <= limit-limit/10 {
			break
		}
		if os.Remove(filepath.Join(c.Dir, info.Name())) == nil {
			total -= info.Size()
		}
	}
}

// An entry is the magic, a digest of the key and of everything after the digest, and then the
// messages and the cubin, each after its length.

func encodeEntry(key string, r result) []byte {
	var body []byte
	for _, part := range [][]byte{[]byte(r.said), r.cubin} {
		body = binary.LittleEndian.AppendUint64(body, uint64(len(part)))
		body = append(body, part...)
	}
	digest := entryDigest(key, body)
	return slices.Concat([]byte(entryMagic), digest[:], body)
}

func decodeEntry(key string, data []byte) (r result, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(entryMagic))
	if !ok || len(rest) < sha256.Size {
		return r, false
	}
	body := rest[sha256.Size:]
	if digest := entryDigest(key, body); !bytes.Equal(digest[:], rest[:sha256.Size]) {
		return r, false
	}
	var parts [2][]byte
	for i := range parts {
		if len(body) < 8 {
			return r, false
		}
		n := binary.LittleEndian.Uint64(body)
		if body = body[8:]; n > uint64(len(body)) {
			return r, false
		}
		parts[i], body = body[:n], body[n:]
	}
	return result{string(parts[0]), parts[1]}, true
}

func entryDigest(key string, body []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(key), body...))
}
