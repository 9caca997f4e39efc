package outfile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

const lockPatience = time.Minute

// Lock keeps other callers of Lock out of the directory of an archive until unlock is
// called. An edit reads the archive and rewrites it, so one of two concurrent edits
// would be lost (make -j). Creating an archive needs no lock. The file may not
// exist yet. The lock is advisory; on systems and file systems without locks, nothing
// is locked. slow is called once if Lock waits for more than a moment. It returns the
// error of ctx, or an error after a minute: a program that runs this one under the
// same lock would wait forever.
func Lock(ctx context.Context, path string, slow func()) (unlock func(), err error) {
	final, err := followLinks(path)
	if err != nil {
		return func() {}, nil // because the write reports the error
	}
	return lock(ctx, path, lockOf(filepath.Dir(final), runtime.GOOS), slow)
}

// lockOf returns the lock of a directory: the directory itself, so that no file remains. Windows
// locks no directories; there it is a file in the temporary directory, named after a digest of the
// directory.
func lockOf(dir, system string) *flock.Flock {
	if system != "windows" {
		return flock.New(dir, flock.SetFlag(os.O_RDONLY))
	}
	digest := sha256.Sum256([]byte(canonical(filepath.Join(dir, "lock"))))
	return flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("ptxlink-%x.lock", digest[:8])))
}

func lock(ctx context.Context, path string, l *flock.Flock, slow func()) (unlock func(), err error) {
	moment, end := time.After(2*time.Second), time.After(lockPatience)
	for {
		if locked, err := l.TryLock(); locked || err != nil {
			return func() { l.Unlock() }, nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-moment:
			slow()
		case <-end:
			return nil, fmt.Errorf("cannot lock the directory of %s: another program has held its lock for %s", path, lockPatience)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
