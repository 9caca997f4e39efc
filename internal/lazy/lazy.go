// Package lazy compiles regular expressions when they are needed: most runs of a program need few.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression when it is called first.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
