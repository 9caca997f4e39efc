package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

func TestReorder(t *testing.T) {
	for _, test := range []struct{ args, options, inputs string }{
		{"a.ptx b.ptx -o out.ptx", "--output=out.ptx", "a.ptx b.ptx"},
		{"-oout.ptx a.ptx -Llib -lfoo -L lib2 -l bar b.ptx", "--output=out.ptx --L=lib --l=foo --L=lib2 --l=bar", "a.ptx -lfoo -lbar b.ptx"},
		{"-other a.ptx", "--output=ther", "a.ptx"}, // as for GNU ld
		{"-o=x -oa=b.ptx -oout -ooutput -oa.out", "--output=x --output=a=b.ptx --output=out --output=output --output=a.out", ""},
		{"-undefined=f -ufoo -u=g", "--undefined=f --undefined=foo --undefined=g", ""},
		{"--output=x --output y", "--output=x --output=y", ""},
		{"-threads 4 --j=5 -j6 -j 7", "--threads=4 --threads=5 --threads=6 --threads=7", ""},
		{"-cubin -c --relocatable", "--cubin --compile-only --relocatable", ""},
		{"-Map=m --Map m -arch sm_80 --arch=sm_90", "--Map=m --Map=m --arch=sm_80 --arch=sm_90", ""},
		{"-Xptxas -v -Xptxas=-O1,-g", "--Xptxas=-v --Xptxas=-O1,-g", ""},
		{"-Wno-odr -w", "--W=no-odr --w", ""},
		{"--color-diagnostics a.ptx --color-diagnostics=never", "--color-diagnostics --color-diagnostics=never", "a.ptx"},
		{"-o - - -- -w @x --", "--output=-", "- -w @x --"},
		{"-l:exact.ptx -lib", "--l=:exact.ptx --l=ib", "-l:exact.ptx -lib"},
		{"-o -none -o=-c", "--output=-none --output=-c", ""}, // a value may look like an option
		{"--verbose=false", "--verbose=false", ""},
		{"--max-input-size=1G --max-input-size 100 --cache-size=2MiB --cache-size=3k", "--max-input-size=1073741824 --max-input-size=100 --cache-size=2097152 --cache-size=3072", ""},
	} {
		options, inputs, err := reorder(linking.table(), strings.Fields(test.args))
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
		}
		var names []string
		for _, in := range inputs {
			if in.library {
				in.name = "-l" + in.name
			}
			names = append(names, in.name)
		}
		if got := strings.Join(options, " "); got != test.options {
			t.Errorf("%s: options %q, want %q", test.args, got, test.options)
		}
		if got := strings.Join(names, " "); got != test.inputs {
			t.Errorf("%s: inputs %q, want %q", test.args, got, test.inputs)
		}
	}
}

func TestReorderRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--gc-section":          `unknown option "--gc-section" (did you mean --gc-sections?)`,
		"--relocatible":         `unknown option "--relocatible" (did you mean --relocatable?)`,
		"-fatal-warning":        `unknown option "-fatal-warning" (did you mean --fatal-warnings?)`,
		"--outptu=x.ptx":        `unknown option "--outptu" (did you mean --output?)`,
		"-q":                    `unknown option "-q"`,
		"---help":               `unknown option "---help" (did you mean --help?)`,
		"a.ptx -o":              "option -o needs a value",
		"-optf=x":               "-optf=x means -o ptf=x",
		"-optf x":               "-optf means -o ptf",
		"-o -c":                 `option -o needs a value, and -c is an option`,
		"--theards 4":           `unknown option "--theards" (did you mean --threads?)`,
		"--Map":                 "option --Map needs a value",
		"--cache-size=1.5G":     `"1.5G" is not a value of --cache-size`,
		"--cache-size=8388608T": `"8388608T" is not a value of --cache-size`,
		"--max-input-size=1GB":  `"1GB" is not a value of --max-input-size`,
		"--max-input-size many": `"many" is not a value of --max-input-size`,
		"-rc":                   `unknown option "-rc"`,
	} {
		_, _, err := reorder(linking.table(), strings.Fields(args))
		if err == nil || err.Error() != "ptxlink: error: "+want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	for _, args := range [][]string{{""}, {"-o", ""}, {"-Map="}, {"-l", ""}} {
		if _, _, err := reorder(linking.table(), args); err == nil {
			t.Errorf("%q names nothing", args)
		}
	}
}

func TestSplitArguments(t *testing.T) {
	for _, test := range []struct {
		system, text string
		want         []string
	}{
		{"linux", "a  b\tc\r\nd\n", []string{"a", "b", "c", "d"}},
		{"linux", `"with space" 'single "inner"' x"y"z`, []string{"with space", `single "inner"`, "xyz"}},
		{"linux", `a\ b "q\"q" 'q\'q' \\`, []string{"a b", `q"q`, "q'q", `\`}},
		{"linux", `"" ''`, []string{"", ""}},
		{"linux", "\ufeffa", []string{"a"}},
		{"linux", `end\`, []string{`end\`}},
		{"linux", " \n", nil},
		// What nvcc of CUDA 13.5 writes for nvlink.
		{"windows", `  cudadevrt.lib   "/LIBPATH:C:\Program Files\cuda\bin/../lib/x64" -o "a.cubin"` + "\r\n", []string{"cudadevrt.lib", `/LIBPATH:C:\Program Files\cuda\bin/../lib/x64`, "-o", "a.cubin"}},
		{"windows", `it's "a\"b" a\\"b c" \\\"d "\\" "" \\server\dir\`, []string{"it's", `a"b`, `a\b c`, `\"d`, `\`, "", `\\server\dir\`}},
	} {
		got, err := splitArguments(test.text, test.system)
		if d := cmp.Diff(test.want, got); d != "" || err != nil {
			t.Errorf("%q on %s: %v\n%s", test.text, test.system, err, d)
		}
	}
	words := []string{`a\`, `\"`, `\\"x\\`, "it's", "", "\t", `C:\a b\c.ptx`, `"`}
	for _, system := range []string{"linux", "windows"} {
		if got, err := splitArguments(string(responseFile(words, system)), system); !slices.Equal(got, words) {
			t.Errorf("on %s a response file of %q holds %q (%v)", system, words, got, err)
		}
	}
	for _, text := range []string{`"open`, `a 'b`, `"a\"`} {
		if got, err := splitArguments(text, "linux"); err == nil {
			t.Errorf("%q was split into %q", text, got)
		}
	}
}

func TestCommandLine(t *testing.T) {
	args := []string{`C:\cuda\ptxas.exe`, "-arch=sm_80", `a 'b'.ptx`, `C:\a b\`, `"`, "", "a\nb"}
	for system, want := range map[string]string{
		"linux":   `'C:\cuda\ptxas.exe' -arch=sm_80 'a '\''b'\''.ptx' 'C:\a b\' '"' '' 'a\nb'`,
		"windows": `C:\cuda\ptxas.exe -arch=sm_80 "a 'b'.ptx" "C:\a b\\" "\"" "" "a\nb"`,
	} {
		if got := commandLine(args, system); got != want {
			t.Errorf("on %s:\n%s, want\n%s", system, got, want)
		}
	}
}

func TestWildcards(t *testing.T) {
	t.Chdir(t.TempDir())
	os.Mkdir("d.ptx", 0o777)
	for _, name := range []string{"a[1].ptx", "b.ptx", "C.PTX", "d.ptx/e.ptx"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"*.ptx": {"C.PTX", "a[1].ptx", "b.ptx"}, "./?.ptx": {"./C.PTX", "./b.ptx"}, "A[1]*": {"a[1].ptx"}, "d.ptx/*": {"d.ptx/e.ptx"},
		"a.ptx": {"a.ptx"}, "*.o": {"*.o"}, "none/*": {"none/*"}, "//?/b.ptx": {"//?/b.ptx"},
	} {
		if got := wildcards(name, "windows"); !slices.Equal(got, want) {
			t.Errorf("%s matches %q, want %q", name, got, want)
		}
		if got := wildcards(name, "linux"); !slices.Equal(got, []string{name}) {
			t.Errorf("%s matches %q on Linux", name, got)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"one":   "a @two -o",
		"two":   "b c",
		"self":  "x @loop",
		"loop":  "@self",
		"quote": `"`,
		"rest":  "-- @two",
		"wide":  "\xff\xfe\xe4\x00 \x00b\x00\r\x00\n\x00",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxNesting + 1 {
		os.WriteFile(fmt.Sprintf("deep%d", i), fmt.Appendf(nil, "@deep%d", i+1), 0o666)
	}
	for i := range maxNesting - 1 {
		os.WriteFile(fmt.Sprintf("tree%d", i), fmt.Appendf(nil, "@tree%d @tree%d", i+1, i+1), 0o666)
	}
	os.WriteFile(fmt.Sprintf("tree%d", maxNesting-1), nil, 0o666)
	os.WriteFile("large", bytes.Repeat([]byte("x"), maxArgBytes/2+1), 0o666)
	for _, test := range []struct{ args, want, err string }{
		{"@tree0", "", "response files name more than 1000 others: tree0 -> "},
		{"@large @large", "", "response file large: there are more than 33554432 bytes of arguments"},
		{"@one out @two @", "a b c -o out b c @", ""},
		{"-- @one", "-- @one", ""},
		{"@rest", "-- @two", ""},
		{"@wide", "ä b", ""},
		{"@self", "", "response file self includes itself: self -> loop -> self"},
		{"@deep0", "", "nested more than 16 deep: deep0 -> "},
		{"@quote", "", "response file quote: a \" is not closed"},
		{"@none", "", "cannot read response file none: "},
	} {
		got, err := expand(nil, strings.Fields(test.args))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %s", test.args, err, test.err)
			}
		} else if strings.Join(got, " ") != test.want || err != nil {
			t.Errorf("%s: %q, %v", test.args, got, err)
		}
	}
}

// No option may hide another: an option of two letters that starts with a letter of
// joined would take -lx away from "-l x".
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	options := linking.table()
	for _, f := range options.flags {
		for _, name := range f.Names() {
			if seen[name] {
				t.Errorf("two options are called %s", name)
			}
			seen[name] = true
			if len(name) > 1 && strings.ContainsRune("Ll", rune(name[0])) && !strings.HasPrefix(name, "localize") && !strings.HasPrefix(name, "library") { // no library is called ocalize or ibrary
				t.Errorf("-%s could also be -%s %s", name, name[:1], name[1:])
			}
		}
		o := describeFlag(f)
		if o.Text == "" || o.category == "" {
			t.Errorf("%s has no place in --help", f.Names()[0])
		}
		if f.(cli.DocGenerationFlag).TakesValue() != (o.Value != "") {
			t.Errorf("%s: --help must name the value, and only a value", f.Names()[0])
		}
	}
	for _, letter := range joined {
		if f := options.named[string(letter)]; f == nil || !needsValue(f) {
			t.Errorf("-%c takes no value", letter)
		}
	}
}

// Every option with a number refuses one that is negative, too large or none, with
// exit code 2 and a message that names it.
func TestNumbers(t *testing.T) {
	options := 0
	for _, s := range allCommands() {
		for _, f := range s.table().shown {
			if _, ok := f.(*cli.Int64Flag); !ok {
				continue
			}
			options++
			for _, value := range []string{"-1", "9223372036854775808", "1.5", "4GB", "-9223372036854775809", "\x1b[m"} {
				name := spell(f.Names()[0])
				args := append(strings.Fields(s.Name), name+"="+value, "none.ptx")
				var stderr bytes.Buffer
				code := run(t.Context(), args, strings.NewReader(""), &stderr, &stderr)
				if want := fmt.Sprintf("%q is not a value of %s\n", value, name); code != exitUsage || !strings.Contains(stderr.String(), want) && value[0] != '\x1b' {
					t.Errorf("%q: exit code %d, no %q in\n%s", args, code, want, stderr.String())
				}
			}
		}
	}
	if options < 10 {
		t.Errorf("only %d options", options)
	}
}

func TestHelpFitsTheScreen(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"a.ptx", "--help"}, nil, &out, &out); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 100 {
			t.Errorf("longer than 100: %s", line)
		}
	}
}

func TestColor(t *testing.T) {
	for _, test := range []struct {
		when    string
		noColor string
		want    bool
	}{{"always", "1", true}, {"never", "", false}, {"auto", "", false}, {"", "1", false}} {
		t.Setenv("NO_COLOR", test.noColor)
		if got := useColor(test.when, new(bytes.Buffer)); got != test.want {
			t.Errorf("%q with NO_COLOR=%s: %v", test.when, test.noColor, got)
		}
	}
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("out of cheese") }

func TestPanicIsOurBug(t *testing.T) {
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"--version"}, nil, panicWriter{}, &stderr); code != exitBug {
		t.Errorf("exit code %d, want %d", code, exitBug)
	}
	for _, want := range []string{"internal error: out of cheese", version(), "panicWriter.Write", "this is a bug in ptxlink", "nothing was written"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, stderr.String())
		}
	}
}
