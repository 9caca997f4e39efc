package ptx

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// mistaken recognises text that users pass in place of PTX, by its beginning and by the suffix of its file. It returns what the
// text is and how to get PTX from it; both are empty if the text is not recognised.
func mistaken(src *diag.Source) (what, help string) {
	head := string(src.Text[:min(len(src.Text), 1<<16)])
	if strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff") {
		return "this file is UTF-16, which ptxas does not read", "save it as UTF-8 without BOM; in PowerShell, write it with -o rather than with >"
	}
	file := path.Base(strings.ReplaceAll(src.Name, `\`, "/"))
	suffix := strings.ToLower(path.Ext(file))
	for _, f := range diag.Facts("texts that are not PTX") {
		if (f.Names[0] == "*" || slices.Contains(f.Names, suffix)) && regexp.MustCompile(f.Lines[0]).MatchString(head) {
			return f.Lines[1], strings.Replace(f.Lines[2], "NAME", file, 1)
		}
	}
	return "", ""
}

// carriage describes text whose lines end with CR alone, if it has comments, because a CR does not
// end a comment.
func carriage(text []byte) (what, help string) {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') < 0 || !afterComment().Match(text) {
		return "", ""
	}
	return "the lines of this file end with CR alone, which ends no comment: what follows the first // is lost", "end the lines with LF: tr '\\r' '\\n'"
}

var afterComment = sets.Regexp(`//[^\r]*\r\s*[^\s/]`)
