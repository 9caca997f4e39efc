package diag

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// everyKind returns messages with every kind of place, and with names that each format
// must escape.
func everyKind() []*Message {
	a := &Source{Name: "dir, 100%/a:b.ptx", Text: []byte("one\n.extern .func f;\n")}
	b := &Source{Name: "/abs/lib.a(m é.ptx)", Text: []byte("é .func f() {\n}\n")}
	var log Log
	log.Error(DuplicateSymbol, At(a, find(a, "f;")), "100% of f(int): odd, \x1b[31m\r\nforged").Of("_Z1fi").
		Note(At(b, find(b, "f()")), "first defined here").
		Note(Place{}, "and 3 more uses").
		WithHelp("rename f,\\nor: drop it")
	log.Warn(ODR, At(b, Span{}), "odd")
	log.Warn(ODR, At(b, find(b, "() {\n}")), "spans two lines")
	log.Error(Usage, Place{}, "no input files")
	log.Note(At(a, find(a, "one")), "renamed")
	log.Note(Place{}, "ptxas: hello")
	log.Error(IO, InFile("gen.cu", 7, 2), "text unknown")
	log.Error(IO, At(&Source{Name: "c:d"}, Span{}), "a name with a colon")
	return log.Messages
}

func written(t *testing.T, messages []*Message, style Style) string {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, messages, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestJSONLines(t *testing.T) {
	want := `{"id":"duplicate-symbol","severity":"error","message":"100% of f(int): odd, \\x1b[31m\\r\\nforged","symbol":{"mangled":"_Z1fi","demangled":"f(int)"},"places":[{"role":"primary","file":"dir, 100%/a:b.ptx","line":2,"column":15,"endLine":2,"endColumn":17},{"role":"definition","file":"/abs/lib.a(m é.ptx)","line":1,"column":9,"endLine":1,"endColumn":12,"message":"first defined here"}],"notes":["and 3 more uses"],"help":"rename f,\\nor: drop it"}
{"id":"odr","severity":"warning","message":"odd","places":[{"role":"primary","file":"/abs/lib.a(m é.ptx)"}]}
{"id":"odr","severity":"warning","message":"spans two lines","places":[{"role":"primary","file":"/abs/lib.a(m é.ptx)","line":1,"column":10,"endLine":2,"endColumn":2}]}
{"id":"usage","severity":"error","message":"no input files","places":[]}
{"severity":"note","message":"renamed","places":[{"role":"primary","file":"dir, 100%/a:b.ptx","line":1,"column":1,"endLine":1,"endColumn":4}]}
{"severity":"note","message":"ptxas: hello","places":[]}
{"id":"io","severity":"error","message":"text unknown","places":[{"role":"primary","file":"gen.cu","line":7,"column":2}]}
{"id":"io","severity":"error","message":"a name with a colon","places":[{"role":"primary","file":"c:d"}]}
`
	if d := cmp.Diff(want, written(t, everyKind(), Style{Format: "json"})); d != "" {
		t.Error(d)
	}
	limited := strings.Split(written(t, everyKind(), Style{Format: "json", ErrorLimit: 2}), "\n")
	if last := limited[len(limited)-2]; len(limited) != 8 || last != `{"severity":"note","message":"2 more errors not shown","places":[]}` {
		t.Errorf("%q", limited)
	}
}

// TestGitHub compares the workflow commands with what GitHub's runner reads: it splits
// properties at commas, and the text follows the next two colons.
func TestGitHub(t *testing.T) {
	want := `::error file=dir%2C 100%25/a%3Ab.ptx,line=2,endLine=2,col=15,endColumn=17,title=duplicate-symbol::100%25 of f(int): odd, \x1b[31m\r\nforged%0A/abs/lib.a(m é.ptx):1:9: note: first defined here%0Aptxlink: note: and 3 more uses%0Ahelp: rename f,\nor: drop it
::warning file=/abs/lib.a(m é.ptx),title=odr::odd
::warning file=/abs/lib.a(m é.ptx),line=1,endLine=2,title=odr::spans two lines
::error title=usage::no input files
::notice file=dir%2C 100%25/a%3Ab.ptx,line=1,endLine=1,col=1,endColumn=4::renamed
::notice::ptxas: hello
::error file=gen.cu,line=7,col=2,title=io::text unknown
::error file=c%3Ad,title=io::a name with a colon
`
	if d := cmp.Diff(want, written(t, everyKind(), Style{Format: "github"})); d != "" {
		t.Error(d)
	}
}

// TestGitHubSource checks that a message goes to the innermost source line of its own
// place that is in a file below the working directory.
func TestGitHubSource(t *testing.T) {
	k := &Source{Name: "build/k.ptx", Text: []byte("call f;\n")}
	call := At(k, find(k, "f"))
	there := func(name string) Place {
		src := &Source{Name: name, Text: []byte("\n\tf();\n")}
		return At(src, find(src, "f"))
	}
	other := InFile("k.cu", 3, 0)
	var log Log
	log.Error(UndefinedSymbol, call, "undefined").Note(there("/usr/h.hpp"), "source line, in g").Note(there("k.cu"), "inlined at this source line, in k")
	log.Error(UndefinedSymbol, call, "not here").Note(other, "source line, in k")
	log.Error(DuplicateSymbol, call, "twice").Note(call, "first defined here").Note(there("k.cu"), "source line, in k")
	log.Error(DuplicateSymbol, call, "above").Note(there("../k.cu"), "source line, in k")
	const want = `::error file=k.cu,line=2,endLine=2,col=2,endColumn=3,title=undefined-symbol::undefined%0A/usr/h.hpp:2:2: note: source line, in g%0Abuild/k.ptx:1:6: note: in the PTX of k
::error file=build/k.ptx,line=1,endLine=1,col=6,endColumn=7,title=undefined-symbol::not here%0Ak.cu:3: note: source line, in k
::error file=build/k.ptx,line=1,endLine=1,col=6,endColumn=7,title=duplicate-symbol::twice%0Ak.cu:2:2: note: first defined here%0Abuild/k.ptx:1:6: note: in the PTX of k
::error file=build/k.ptx,line=1,endLine=1,col=6,endColumn=7,title=duplicate-symbol::above%0A../k.cu:2:2: note: source line, in k
`
	if d := cmp.Diff(want, written(t, log.Messages, Style{Format: "github"})); d != "" {
		t.Error(d)
	}

	// SARIF, which GitHub shows in the same way, has the same places.
	var document sarifLog
	if err := json.Unmarshal([]byte(written(t, log.Messages, Style{Format: "sarif"})), &document); err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, r := range document.Runs[0].Results {
		line := r.Locations[0].Physical.Artifact["uri"]
		for _, l := range r.Related {
			line += " " + l.Physical.Artifact["uri"] + ":" + l.Props["role"]
		}
		places = append(places, line)
	}
	if d := cmp.Diff([]string{
		"k.cu " + unixFile + "/usr/h.hpp:source build/k.ptx:related",
		"build/k.ptx k.cu:source",
		"build/k.ptx k.cu:definition build/k.ptx:related",
		"build/k.ptx ../k.cu:source",
	}, places); d != "" {
		t.Error(d)
	}
}

// unixFile is the start of the URI of an absolute name of Unix, which on Windows is relative to the drive.
var unixFile = map[bool]string{true: "file://"}[filepath.IsAbs("/")]

// TestSARIF validates a document against the schema of OASIS, whose licence
// (testdata/README.md) allows copies.
func TestSARIF(t *testing.T) {
	file, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	if err := compiler.AddResource("sarif.json", file); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, messages := range [][]*Message{nil, everyKind(), everyKind()[1:2]} {
		text := written(t, messages, Style{Format: "sarif", Version: "1.0"})
		var document any
		err := json.Unmarshal([]byte(text), &document)
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if schema.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{"results": []any{}}}}) == nil {
		t.Error("the schema accepts a run without a tool")
	}

	var log sarifLog
	if err := json.Unmarshal([]byte(written(t, everyKind(), Style{Format: "sarif"})), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if run.Invocations[0].Successful || len(run.Invocations[0].Notifications) != 3 || len(run.Results) != 5 {
		t.Errorf("%+v", run)
	}
	for _, r := range run.Results {
		if len(r.Locations) != 1 || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%+v", r)
		}
	}
	var uris []string
	for _, r := range run.Results {
		uris = append(uris, r.Locations[0].Physical.Artifact["uri"])
	}
	want := []string{"dir,%20100%25/a:b.ptx", unixFile + "/abs/lib.a%28m%20%C3%A9.ptx%29", unixFile + "/abs/lib.a%28m%20%C3%A9.ptx%29", "gen.cu", "./c:d"}
	if d := cmp.Diff(want, uris); d != "" {
		t.Error(d)
	}
	first := run.Results[0]
	if len(first.Related) != 1 || first.Related[0].Props["role"] != "definition" || first.Locations[0].Logical[0] != (sarifLogical{"f(int)", "_Z1fi"}) || *first.Locations[0].Physical.Region != (sarifRegion{2, 15, 2, 17}) {
		t.Errorf("%+v", first)
	}
}

// TestMarkersUnderWideCharacters compares columns, not characters: a CJK character has
// two, a combining one none.
func TestMarkersUnderWideCharacters(t *testing.T) {
	src := &Source{Name: "a.ptx", Text: []byte("\t// 漢字 e\u0301 \u200bé name\n")}
	var log Log
	log.Error(Syntax, At(src, find(src, "name")), "here")
	log.Error(Syntax, At(src, find(src, "漢字")), "there")
	want := "a.ptx:1:14: error: here [syntax]\n" +
		"    1 | \t// 漢字 e\u0301 \ufffdé name\n" +
		"      | \t             ^^^^\n" +
		"a.ptx:1:5: error: there [syntax]\n" +
		"    1 | \t// 漢字 e\u0301 \ufffdé name\n" +
		"      | \t   ^^^^\n"
	if d := cmp.Diff(want, written(t, log.Messages, Style{})); d != "" {
		t.Error(d)
	}
}

// TestWidth checks that excerpts fit the terminal.
func TestWidth(t *testing.T) {
	src := &Source{Name: "a.ptx", Text: []byte(strings.Repeat("x", 500) + "name" + strings.Repeat("y", 500))}
	var log Log
	log.Error(Syntax, At(src, find(src, "name")), "here")
	for _, columns := range []int{40, 80, 200} {
		lines := strings.Split(written(t, log.Messages, Style{Width: columns}), "\n")
		at := strings.Index(lines[2], "^")
		if len(lines[1]) != columns || lines[1][at:at+4] != "name" {
			t.Errorf("%d columns for %d, name at %d:\n%s", len(lines[1]), columns, at, lines[1])
		}
	}
}

// TestLongNames checks that text shortens template arguments and mangled names, and
// that JSON does not.
func TestLongNames(t *testing.T) {
	arguments := strings.Repeat("cute::tuple<int, long>, ", 20) + "last"
	mangled := "_Z1f" + strings.Repeat("N4cute5tupleE", 20)
	name := "void f<" + arguments + ">(a<b>*) (" + mangled + ")"
	var log Log
	log.Error(UndefinedSymbol, Place{}, "undefined symbol: "+name+", x->y, operator<")
	text := written(t, log.Messages, Style{})
	if !strings.HasPrefix(text, "ptxlink: error: undefined symbol: void f<cute::tuple<int, long>, cute::tupl...ong>, cute::tuple<int, long>, last>(a<b>*) (_Z1fN4cute5") || len(text) > 400 || !strings.HasSuffix(text, "), x->y, operator< [undefined-symbol]\n") {
		t.Error(text)
	}
	for _, style := range []Style{{Full: true}, {Format: "json"}, {Format: "sarif"}, {Format: "github"}} {
		if all := written(t, log.Messages, style); !strings.Contains(all, arguments) || !strings.Contains(all, mangled) {
			t.Errorf("%+v: %s", style, all)
		}
	}
}
