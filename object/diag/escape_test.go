package diag

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{`C:\dir\é ü.ptx ☺`, `C:\dir\é ü.ptx ☺`},
		{"a\x1b[31mb\x07", `a\x1b[31mb\a`},
		{"\x00\x7f\t\r\n", `\x00\x7f\t\r\n`},
		{"\u009b\u0085\u00ad", `\u009b\u0085\u00ad`},
		{"\u202e\u2066\u200f\u061c\u2028\ufeff\u200b", `\u202e\u2066\u200f\u061c\u2028\ufeff\u200b`},
		{"\U000e0041", `\U000e0041`},
		{"\x9b\xff\xc3", `\x9b\xff\xc3`},
		{"\ufffd", "\ufffd"},
	} {
		if got := Escape(test.in); got != test.want {
			t.Errorf("%q: %s, want %s", test.in, got, test.want)
		} else if again := Escape(got); again != got {
			t.Errorf("%q: twice %s, once %s", test.in, again, got)
		}
	}
}

// TestWriteJSON checks that a reader gets every string back, and that no byte of
// the text is a control character.
func TestWriteJSON(t *testing.T) {
	in := []string{"\x1b[31m\x7f", "\u009b\u202e\u2028<&>", "\U000e0041 é ☺ 😀", "\\u202e"}
	var b strings.Builder
	if err := WriteJSON(&b, in); err != nil {
		t.Fatal(err)
	}
	var back []string
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || strings.Join(back, "|") != strings.Join(in, "|") {
		t.Errorf("%q, %v", back, err)
	}
	if text := strings.ReplaceAll(b.String(), "\n", ""); Escape(text) != text || !strings.Contains(text, "é ☺ 😀") {
		t.Error(text)
	}
}

// TestMessagesAreBounded checks that a name of any length gives a readable message.
func TestMessagesAreBounded(t *testing.T) {
	long := "start" + strings.Repeat("é", 5_000_000) + "end"
	var log Log
	log.Error(UndefinedSymbol, At(&Source{Name: long}, Span{}), "undefined symbol: "+Spelling{}.Name(long)).
		Note(Place{}, long).WithHelp(long)
	var out strings.Builder
	Write(&out, log.Messages, Style{})
	if n := out.Len(); n > 50_000 || !strings.Contains(out.String(), "undefined symbol: start") || !strings.Contains(out.String(), "éend\n") || strings.Contains(out.String(), `\x`) {
		t.Errorf("%d bytes", n)
	}
	if got := shorten("éééé", 7); got != "é...é" {
		t.Error(got)
	}
}
