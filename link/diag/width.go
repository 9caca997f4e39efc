package diag

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// columns measures text on a terminal: wide characters have two columns, and combining
// ones none. Characters of ambiguous width have one, whatever the locale is.
var columns = sync.OnceValue(func() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} })

// width returns the number of columns of a text without tabs.
func width(text string) int { return columns().StringWidth(text) }

// The most bytes of template arguments and of a mangled name in a text for people.
const (
	maxArguments = 72
	maxMangled   = 120
)

var mangledWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b_[ZR][0-9A-Za-z_$.]+`) })

// abridge shortens the template arguments and mangled names in a text in the middle.
func abridge(text string) string {
	if len(text) <= maxArguments {
		return text
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '<')
		end := -1
		for i, depth := open, 0; open >= 0 && i < len(text) && end < 0; i++ {
			switch {
			case text[i] == '<':
				depth++
			case text[i] == '>' && text[i-1] != '-':
				if depth--; depth == 0 {
					end = i
				}
			}
		}
		if end < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:open+1] + shorten(text[open+1:end], maxArguments))
		text = text[end:]
	}
	return mangledWord().ReplaceAllStringFunc(b.String(), func(name string) string { return shorten(name, maxMangled) })
}
