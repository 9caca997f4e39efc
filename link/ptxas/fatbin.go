package ptxas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/internal/outfile"
)

// fatbinArgs returns the command line of fatbinary for a cubin and its PTX.
func fatbinArgs(gpu string) []string {
	sm := strings.TrimPrefix(gpu, "sm_")
	return []string{
		"-64", "--create=linked.fatbin",
		"--image3=kind=elf,sm=" + sm + ",file=" + outputName,
		"--image3=kind=ptx,sm=" + sm + ",file=" + inputName,
	}
}

// Fatbin packs a cubin of Assemble and the module that it was made of into a fatbin:
// the driver compiles the PTX for later GPUs. fatbinary is its path.
func (b Build) Fatbin(ctx context.Context, fatbinary string, ptx, cubin []byte) ([]byte, error) {
	args := fatbinArgs(b.gpu())
	if b.Command != nil {
		b.Command(append([]string{fatbinary}, args...))
		return nil, nil
	}
	dir, remove, err := outfile.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	for name, data := range map[string][]byte{inputName: ptx, outputName: cubin} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	cmd := command(ctx, dir, fatbinary, args...)
	said, runErr := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if runErr != nil && !errors.As(runErr, &exit) {
		return nil, fmt.Errorf("cannot run %s: %w", fatbinary, runErr)
	}
	fatbin, err := os.ReadFile(filepath.Join(dir, "linked.fatbin"))
	const magic = "\x50\xed\x55\xba"
	if runErr != nil || err != nil || !strings.HasPrefix(string(fatbin), magic) {
		text := strings.TrimSpace(string(said))
		if text == "" {
			text = "it wrote no fatbin"
		}
		return nil, &diag.Message{ID: diag.Fatbinary, Text: "fatbinary failed: " + text, Help: "the program is " + fatbinary}
	}
	return fatbin, nil
}
