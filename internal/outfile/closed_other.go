//go:build !linux

package outfile

// closedAtStart is known on Linux only.
func closedAtStart() bool { return false }
