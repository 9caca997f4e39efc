package outfile

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dependencies writes a Make rule with the inputs of output, and an empty rule for
// every input, so that Make does not stop when one of them is deleted. The caller
// must omit inputs that are not files (standard input, memory).
func Dependencies(w io.Writer, output string, inputs []string) error {
	var b, phony strings.Builder
	b.WriteString(makeName(output) + ":")
	seen := map[string]bool{"": true}
	for _, name := range append([]string{output}, inputs...) {
		if hasControls(name) {
			return fmt.Errorf("the dependency file cannot name %q: Make has no way to write a line end or another control character", name)
		}
	}
	for _, input := range inputs {
		if seen[input] {
			continue
		}
		seen[input] = true
		b.WriteString(" \\\n  " + makeName(input))
		phony.WriteString("\n" + makeName(input) + ":\n")
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String()+phony.String())
	return err
}

// hasControls reports whether a file name has characters that end a line or control
// a terminal. These files hold names unescaped, for other programs. A byte that is
// not UTF-8 is taken as a letter of an older encoding, unless it is a control
// character there.
func hasControls(name string) bool {
	for at, r := range name {
		if r == utf8.RuneError { // also for U+FFFD itself, whose first byte is not a control
			r = rune(name[at])
		}
		if r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return true
		}
	}
	return false
}

// makeName quotes a file name the way GCC and Clang do, which Make and Ninja read:
// "\ " for a space, with the backslashes before it doubled, "\#" and "$$". A colon
// is kept, because Make recognises C:\x.
func makeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch name[i] {
		case ' ', '\t':
			for j := i; j > 0 && name[j-1] == '\\'; j-- {
				b.WriteByte('\\')
			}
			b.WriteByte('\\')
		case '#':
			b.WriteByte('\\')
		case '$':
			b.WriteByte('$')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// UnusedInputs writes the names of inputs, one per line and with slashes, as Bazel reads its
// unused_inputs_list.
func UnusedInputs(w io.Writer, inputs []string) error {
	var b strings.Builder
	for _, input := range inputs {
		if hasControls(input) {
			return fmt.Errorf("the list of unused inputs cannot name %q: it has one name to a line, without control characters", input)
		}
		b.WriteString(filepath.ToSlash(input) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
