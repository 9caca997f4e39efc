package outfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const lockPatience = time.Minute

// Lock keeps other callers of Lock out of the folder of an archive until unlock is
// called. An edit reads the archive and rewrites it, so one of two concurrent edits
// would be lost (make -j). Creating an archive needs no lock. The file may not
// exist yet. The lock is advisory, on the folder itself, and leaves no file; on
// systems and file systems without locks, nothing is locked. slow is called once if
// Lock waits for more than a moment. It returns the error of ctx, or an error after
// a minute: a program that runs this one under the same lock would wait forever.
func Lock(ctx context.Context, path string, slow func()) (unlock func(), err error) {
	final, err := followLinks(path)
	if err != nil {
		return func() {}, nil // the write reports the error
	}
	folder, err := os.Open(filepath.Dir(final))
	if err != nil {
		return func() {}, nil
	}
	// Closing the folder releases the lock.
	unlock = func() { folder.Close() }
	if flockNow(folder) {
		return unlock, nil
	}
	locked := make(chan struct{})
	go func() {
		flock(folder)
		close(locked)
	}()
	moment, end := time.After(2*time.Second), time.After(lockPatience)
	for {
		select {
		case <-locked:
			return unlock, nil
		case <-moment:
			slow()
		case <-end:
			go func() { <-locked; folder.Close() }()
			return nil, fmt.Errorf("cannot lock the folder of %s: another program has held its lock for %s", path, lockPatience)
		case <-ctx.Done():
			// The folder stays open until flock returns.
			go func() { <-locked; folder.Close() }()
			return nil, ctx.Err()
		}
	}
}
