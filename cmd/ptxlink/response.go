package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
)

// These limits of response files are larger than any build needs. A file that names itself is
// detected earlier. The limits must stop an endless chain of files, files that name each other many
// times, and an endless device.
const (
	maxNesting  = 16
	maxResponse = 1000     // number of files that are read
	maxArgBytes = 32 << 20 // in all files together
)

// expand replaces every @FILE with the arguments in FILE, which may name more response files. A
// relative name is relative to the working directory, as in GCC. Arguments after "--" stay
// unchanged, because they are files.
func expand(read *infile.Files, args []string) ([]string, error) {
	return (&responses{read: read}).expand(args, nil)
}

// responses counts the files and bytes read for one command line, because both are limited.
type responses struct {
	files int
	bytes int64
	read  *infile.Files
}

// expand expands arguments. They come from the last file of within.
func (r *responses) expand(args, within []string) ([]string, error) {
	var out []string
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...), nil
		}
		name, ok := strings.CutPrefix(arg, "@")
		if !ok || name == "" {
			out = append(out, arg)
			continue
		}
		chain := append(slices.Clip(within), name)
		if slices.Contains(within, name) {
			return nil, usageError(fmt.Sprintf("response file %s includes itself: %s", name, strings.Join(chain, " -> ")), "")
		}
		if len(chain) > maxNesting {
			return nil, usageError(fmt.Sprintf("response files are nested more than %d deep: %s", maxNesting, strings.Join(chain, " -> ")), "")
		}
		if r.files++; r.files > maxResponse {
			return nil, usageError(fmt.Sprintf("response files name more than %d others: %s", maxResponse, strings.Join(chain, " -> ")), "one that is named several times is read as often")
		}
		text, err := r.readFile(name)
		if err != nil {
			return nil, err
		}
		inner, err := splitArguments(text, runtime.GOOS)
		if err != nil {
			return nil, usageError(fmt.Sprintf("response file %s: %v", name, err), "")
		}
		inner, err = r.expand(inner, chain)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// readFile reads a response file, unless it would exceed the limit.
func (r *responses) readFile(name string) (string, error) {
	text, err := r.read.ReadFile(name, maxArgBytes-r.bytes)
	if errors.Is(err, infile.ErrTooLong) {
		return "", usageError(fmt.Sprintf("response file %s: there are more than %d bytes of arguments", name, maxArgBytes), "ptxlink ar makes a package of many files, to be named in their place")
	}
	if err != nil {
		return "", fmt.Errorf("cannot read response file %s: %w", name, outfile.Reason(err))
	}
	r.bytes += int64(len(text))
	return decoded(text), nil
}

// decoded returns text as UTF-8, because PowerShell 5 writes UTF-16.
func decoded(text []byte) string {
	if text, ok := bytes.CutPrefix(text, []byte("\xff\xfe")); ok {
		units := make([]uint16, len(text)/2)
		binary.Decode(text, binary.LittleEndian, units)
		return string(utf16.Decode(units))
	}
	if !utf8.Valid(text) {
		return fromCodePage(string(text))
	}
	return string(text)
}

// splitArguments splits text into arguments as GCC does: white space separates, both kinds of
// quotes group, and a backslash makes the next byte literal, within quotes too. On Windows only "
// groups, and backslashes are literal unless a " follows, as for all programs there. Libraries
// cannot be used, because they split as a shell does: google/shlex, mattn/go-shellwords and
// kballard/go-shellquote refuse 'q\'q', which GCC writes; the first drops the text after #, the
// second the text after ;.
func splitArguments(text, system string) ([]string, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	windows := system == "windows"
	var args []string
	var arg []byte
	started := false
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && windows:
			slashes := text[i : len(text)-len(strings.TrimLeft(text[i:], `\`))]
			started, i = true, i+len(slashes)-1
			if strings.HasPrefix(text[i+1:], `"`) {
				quoted := len(slashes)%2 == 1
				if slashes = slashes[:len(slashes)/2]; quoted {
					slashes, i = slashes+`"`, i+1
				}
			}
			arg = append(arg, slashes...)
		case c == '\\' && i+1 < len(text):
			i++
			arg, started = append(arg, text[i]), true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				arg = append(arg, c)
			}
		case c == '\'' && !windows || c == '"':
			quote, started = c, true
		case c == ' ' || '\t' <= c && c <= '\r':
			if started {
				args = append(args, string(arg))
			}
			arg, started = nil, false
		default:
			arg, started = append(arg, c), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed", quote)
	}
	if started {
		args = append(args, string(arg))
	}
	return args, nil
}
