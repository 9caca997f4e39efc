package main

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"golang.org/x/tools/txtar"

	"ptxlink/link"
	"ptxlink/object/diag"
)

// namedOption matches an option in a message, with what is before it.
var namedOption = regexp.MustCompile(`(?:^|[\s(\['"])(--?[A-Za-z][A-Za-z-]*)`)

// otherProgram matches words after which an option is one of another program, or of the
// command of ptxlink that is named.
var otherProgram = regexp.MustCompile(`\b(compil\w+|nvcc|clang|clang-offload-bundler|gcc|llc|nvlink|ptxas|cuobjdump|objcopy|pip|tar|PowerShell)\b[^;]*$`)

// ownCommand matches a command of ptxlink that is written out.
var ownCommand = regexp.MustCompile(`^.*\bptxlink( [a-z]+)?[^;]*$`)

// strangers returns the options in a message that the command does not take and that
// are not those of a program named before them.
func strangers(s subcommand, text string) (list []string) {
	for _, at := range namedOption.FindAllStringSubmatchIndex(text, -1) {
		before, option, of := text[:at[2]], text[at[2]:at[3]], s
		if m := ownCommand.FindStringSubmatch(before); m != nil && !strings.HasPrefix(before, "ptxlink:") {
			of = linking
			for _, sub := range subcommands {
				if m[1] == " "+sub.Name {
					of = sub
				}
			}
		} else if option == "-rdc" || option == "-ewp" || option == "-gencode" || otherProgram.MatchString(before) {
			continue
		}
		name := strings.TrimLeft(option, "-")
		if strings.HasPrefix(option, "-W") && option != "-W" {
			name = "W"
		}
		options := of.table()
		taken := options.named[name] != nil || len(option) > 2 && option[1] != '-' && strings.IndexByte(joined, option[1]) >= 0 && options.named[option[1:2]] != nil
		for _, like := range of.like {
			taken = taken || like == option
		}
		if !taken {
			list = append(list, option)
		}
	}
	return list
}

// TestAdviceFits links the modules of every script and example under each command that
// links, with a ptxas that refuses them, and checks that the messages name only options
// of the command. Those of the Go API name none.
func TestAdviceFits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the ptxas of the test is a shell script")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []string
	for _, dir := range []string{"explain", "script"} {
		found, err := filepath.Glob(filepath.Join(root, "testdata", dir, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, found...)
	}
	fake := filepath.Join(t.TempDir(), "ptxas")
	const said = `#!/bin/sh
[ "$1" = --version ] && exit
cat <<'EOF' >&2
ptxas fatal   : Unsupported .version 9.9; current version is '8.4'
ptxas fatal   : SM version specified by .target is higher than default SM version assumed
ptxas fatal   : Value 'sm_75' is not defined for option 'gpu-name'
ptxas fatal   : Unresolved extern function 'f'
ptxas fatal   : Optimized debugging not supported
ptxas fatal   : Unknown option '-odd'
ptxas fatal   : k calls f with max regcount of 20
ptxas in.ptx, line 5; error   : Odd
EOF
exit 255
`
	if err := os.WriteFile(fake, []byte(said), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PTXAS", fake)
	commands := []struct {
		sub  subcommand
		args []string
	}{
		{linking, []string{"-o", "out.cubin"}},
		{checkCommand, []string{"--assemble"}},
		{nvlinkCommand, []string{"-arch=sm_52", "-o", "out.cubin"}},
		{nvptxLdCommand, []string{"-o", "a.out"}},
		{arCommand, []string{"c.a"}},
	}
	checked := map[string]int{}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var inputs []string
		var modules []link.Input
		for _, f := range archive.Files {
			if filepath.Ext(f.Name) == ".ptx" && filepath.Base(f.Name) == f.Name && !strings.HasPrefix(f.Name, "want") {
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
					t.Fatal(err)
				}
				inputs = append(inputs, f.Name)
				modules = append(modules, link.Input{Name: f.Name, Text: f.Data})
			}
		}
		if inputs == nil {
			continue
		}
		t.Chdir(dir)
		for _, c := range commands {
			var out, messages strings.Builder
			args := append(slices.Clone(c.args), inputs...)
			if c.sub.Name != "" {
				args = append([]string{c.sub.Name}, args...)
			}
			run(t.Context(), args, nil, &out, &messages)
			for line := range strings.Lines(messages.String()) {
				if excerpt.MatchString(line) {
					continue
				}
				checked[c.sub.Name]++
				if list := strangers(c.sub, line); list != nil {
					t.Errorf("%s: ptxlink %s does not take %v:\n%s", filepath.Base(script), c.sub.Name, list, line)
				}
				if half.MatchString(line) {
					t.Errorf("%s: ptxlink %s gives half a sentence:\n%s", filepath.Base(script), c.sub.Name, line)
				}
			}
		}
		_, err = link.Link(context.Background(), link.Options{Inputs: modules})
		var refused *link.Errors
		if !errors.As(err, &refused) {
			continue
		}
		for _, m := range refused.Messages {
			checked["library"]++
			if list := strangers(subcommand{Command: cli.Command{Name: "none"}}, m.Text+"; "+m.Help); list != nil {
				t.Errorf("%s: the Go API has no %v:\n%s\n%s", filepath.Base(script), list, m.Text, m.Help)
			}
			if half.MatchString("help: " + m.Help) {
				t.Errorf("%s: the Go API gives half a sentence: %s", filepath.Base(script), m.Help)
			}
		}
	}
	for _, sub := range append(subcommands, linking) {
		for _, option := range foreignOptions() {
			var messages strings.Builder
			args := []string{option, "a.ptx"}
			if sub.Name != "" {
				args = append([]string{sub.Name}, args...)
			}
			if code := run(t.Context(), args, strings.NewReader(""), io.Discard, &messages); code == exitBug {
				t.Errorf("%q: %s", args, &messages)
			}
			_, help, _ := strings.Cut(messages.String(), "help: ")
			_, why, _ := strings.Cut(messages.String(), " is not an option of ptxlink: ")
			for _, text := range []string{help, why} {
				if list := strangers(sub, forOthers.ReplaceAllString(text, "")); list != nil {
					t.Errorf("%q: ptxlink %s does not take %v:\n%s", args, sub.Name, list, &messages)
				}
			}
		}
	}
	t.Log(checked)
	if len(checked) != len(commands)+1 {
		t.Error("a command gave no message")
	}
}

// foreignOptions are options of other tools, and misspelt ones, for which there is advice.
func foreignOptions() []string {
	list := []string{"-use_fast_math", "-optf=x", "-out", "-output=x", "-undefind", "--gc-section", "--alow-undefined=x"}
	for _, f := range slices.Concat(diag.Facts(compilerOptions), diag.Facts(refusedOptions)) {
		for _, name := range f.Names {
			list = append(list, "--"+strings.TrimSuffix(name, "*"))
		}
	}
	return list
}

// forOthers matches an option of another tool in the advice for it.
var forOthers = regexp.MustCompile(`(-\S+ and )?-\S+ (is|are) for (the compiler|compilers|nvcc)|passes -g to ptxas`)

// half matches advice that continues a piece that is not there, or that lacks its end.
var half = regexp.MustCompile(`^help: (or |and |otherwise |with |\W )|^help: [,;.]|[,;] ?$|( or| and| with)$|  `)

// excerpt matches a line of an input, and the marker below it.
var excerpt = regexp.MustCompile(`^ +[0-9]* \| `)

// TestAdviceIsFitted checks that no text of the linker names an option of ptxlink as it
// is: Spelling.With and Option spell it for the program that runs.
func TestAdviceIsFitted(t *testing.T) {
	texts := 0
	for _, root := range []string{"link", "object", "resolve", "abicheck"} {
		err := filepath.WalkDir("../../"+root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if filepath.Base(filepath.Dir(path)) == "diag" { // it has the texts of --explain
				return nil
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			fitted := map[ast.Node]bool{}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "With" || f.Sel.Name == "Option") {
						fitted[call.Args[0]] = true
						ast.Inspect(call.Args[0], func(n ast.Node) bool { fitted[n] = true; return true })
					}
				}
				l, ok := n.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING || fitted[n] {
					return true
				}
				text, err := strconv.Unquote(l.Value)
				if err != nil || !strings.Contains(strings.TrimSpace(text), " ") || strings.HasPrefix(text, "-g --dont-merge") || strings.HasPrefix(text, "cannot find -l") || strings.HasPrefix(text, "// ") {
					return true
				}
				texts++
				if list := strangers(subcommand{Command: cli.Command{Name: "none"}}, text); list != nil {
					t.Errorf("%s: %v is not fitted to the program: %s", files.Position(l.Pos()), list, text)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 1000 {
		t.Errorf("only %d texts were found", texts)
	}
}
