package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// maxNesting bounds response files within response files. A file that names
// itself is told apart before that; this is for a chain that never ends.
const maxNesting = 16

// expand replaces every @FILE by the arguments in FILE, which may name further
// ones; a relative name is relative to the working folder, as for GCC. After
// "--" an argument is a file, whatever it looks like.
func expand(args []string) ([]string, error) { return expandWithin(args, nil) }

// expandWithin expands the arguments that stand in the last file of within.
func expandWithin(args, within []string) ([]string, error) {
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
			return nil, &usageError{text: fmt.Sprintf("response file %s includes itself: %s", name, strings.Join(chain, " -> "))}
		}
		if len(chain) > maxNesting {
			return nil, &usageError{text: fmt.Sprintf("response files are nested more than %d deep: %s", maxNesting, strings.Join(chain, " -> "))}
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, &responseError{name, err}
		}
		inner, err := splitGNU(string(text))
		if err != nil {
			return nil, &usageError{text: fmt.Sprintf("response file %s: %v", name, err)}
		}
		inner, err = expandWithin(inner, chain)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// splitGNU splits text into arguments as GCC does: white space separates, both
// kinds of quotes group, and a backslash takes the next byte as it is, within
// quotes too.
func splitGNU(text string) ([]string, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	var args []string
	var arg []byte
	started := false
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			arg, started = append(arg, text[i]), true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				arg = append(arg, c)
			}
		case c == '\'' || c == '"':
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

// responseError is a response file that cannot be read: exit code 3.
type responseError struct {
	name string
	err  error
}

func (e *responseError) Error() string {
	var perr *os.PathError
	err := e.err
	if errors.As(err, &perr) {
		err = perr.Err
	}
	return fmt.Sprintf("cannot read response file %s: %v", e.name, err)
}
