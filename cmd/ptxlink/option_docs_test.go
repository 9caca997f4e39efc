package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/oracles"
)

// TestOptionDocs compares docs/options.md with the table of options.
func TestOptionDocs(t *testing.T) {
	const page = "../../docs/options.md"
	if *update {
		if err := os.WriteFile(page, render(markdownTemplate, allCommands()...), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Equal(text, render(markdownTemplate, allCommands()...)) {
		t.Errorf("docs/options.md is not that of the table of options (%v): go test ./cmd/ptxlink -run OptionDocs -update", err)
	}
}

// TestProgramNames checks that program names stay in lower case at the start of a line.
func TestProgramNames(t *testing.T) {
	for _, name := range regexp.MustCompile(`\b(Ptxlink|Ptxas|Nvlink|Nvcc|Gcc|Clang)\b`).FindAll(render(markdownTemplate, allCommands()...), -1) {
		t.Errorf("docs/options.md has %s", name)
	}
}

// TestOptionTable checks that each option that the parser takes is in the help, the
// manual, the page of options and the completion, by all of its names.
func TestOptionTable(t *testing.T) {
	page := string(render(markdownTemplate, allCommands()...))
	options := 0
	for _, s := range allCommands() {
		_, section, _ := strings.Cut(page, "\n## "+s.Line()+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		manual := strings.ReplaceAll(string(render(manTemplate, s)), `\-`, "-")
		help := helpText(t, s)
		for line := range strings.SplitSeq(help, "\n") {
			if len(line) > helpWidth {
				t.Errorf("%s --help: the line has %d columns: %s", s.Line(), len(line), line)
			}
		}
		for _, f := range s.table().shown {
			o := describeFlag(f)
			if strings.TrimSpace(o.Text) == "" || o.category == "" {
				t.Errorf("%s: %s has no usage or category", s.Line(), o.Spellings)
			}
			if (o.Value != "") != f.(cli.DocGenerationFlag).TakesValue() {
				t.Errorf("%s: the usage of %s names a value, or has none, unlike its kind", s.Line(), o.Spellings)
			}
			for _, name := range f.Names() {
				options++
				word := regexp.QuoteMeta(spell(name))
				for where, found := range map[string]bool{
					"help":       regexp.MustCompile(`(?m)^.* ` + word + `([ ,=\[A-Z]|no-ID|$)`).MatchString(help),
					"manual":     strings.Contains(manual, `\fB`+spell(name)+`\fR`),
					"markdown":   regexp.MustCompile("`" + word + "([`A-Z \\[]|no-ID)").MatchString(section),
					"completion": strings.Contains("\n"+s.complete(s.table(), []string{spell(name)}), "\n"+spell(name)+"\t"),
				} {
					if !found {
						t.Errorf("%s: option %s is not in %s", s.Line(), spell(name), where)
					}
				}
			}
		}
	}
	if options < 100 {
		t.Errorf("only %d names of options", options)
	}
}

// TestCompletionBash completes command lines in a real bash.
func TestCompletionBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"completion": completionScript(t, "bash"), "main.ptx": "", "map file.txt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "libs"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		words string // separated by spaces as bash separates them; the last one is completed
		want  string // some of the replies
		not   string
	}{
		{"ptxlink --depend", "--dependency-file", "--depfile"},
		{"ptxlink a.ptx --why", "--why-live", ""},
		{"ptxlink ex", "extract", "check"},
		{"ptxlink ma", "manual main.ptx map file.txt", ""},
		{"ptxlink a.ptx ma", "main.ptx map file.txt", "manual"},
		{"ptxlink nm --und", "--undefined-only", "--undefined\n"},
		{"ptxlink nm --dep", "", "--dependency-file"},
		{"ptxlink -L ", "libs", "main.ptx"},
		{"ptxlink --format ", "ptx cubin fatbin", "main.ptx"},
		{"ptxlink --format = cu", "cubin", "fatbin"},
		{"ptxlink -format cu", "cubin", "fatbin"},
		{"ptxlink --color-diagnostics =", "auto always never", "main.ptx"},
		{"ptxlink --color-diagnostics mai", "main.ptx", "auto"},
		{"ptxlink ar --format z", "zstd", "ptx"},
		{"ptxlink -O", "-O0 -O1 -O2", ""},
		{"ptxlink --arch ", "sm_75 sm_80 sm_90a sm_121", "main.ptx"},
		{"ptxlink --arch = sm_8", "sm_80 sm_86", "sm_90"},
		{"ptxlink ar --arch sm_9", "sm_90", "sm_80"},
		{"ptxlink a.ptx -Wno-unused", "-Wno-unused-option", "-Wunused-option"},
		{"ptxlink a.ptx -W", "-Wno-odr -Wodr -Werror", "-w"},
		{"ptxlink a.ptx -Werror = od", "odr", "undefined-symbol"},
		{"ptxlink a.ptx -", "-W --arch", "-Wno-odr"},
		{"ptxlink --explain undef", "undefined-symbol", ""},
		{"ptxlink explain ", "undefined-symbol odr", "main.ptx"},
		{"ptxlink -Map ma", "main.ptx map file.txt", ""},
		{"ptxlink completion ", "bash zsh fish powershell", "main.ptx"},
		{"ptxlink manual n", "nm", "main.ptx"},
	} {
		words := strings.Split(test.words, " ")
		var script strings.Builder
		script.WriteString("source ./completion || exit 9\nCOMP_WORDS=(")
		for _, w := range words {
			script.WriteString(quote(w) + " ")
		}
		script.WriteString(")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_ptxlink ptxlink\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
		cmd := exec.Command(bash, "--norc", "-c", script.String())
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", test.words, err, out)
		}
		replies := strings.Split(string(out), "\n")
		for _, want := range strings.Fields(strings.ReplaceAll(test.want, "map file", "map\x00file")) {
			if want = strings.ReplaceAll(want, "\x00", " "); !slices.Contains(replies, want) {
				t.Errorf("%q: %q is not among the replies %q", test.words, want, replies)
			}
		}
		if test.not != "" && slices.Contains(replies, strings.TrimSpace(test.not)) {
			t.Errorf("%q: %q is among the replies", test.words, test.not)
		}
	}
}

// TestCompletionFish completes command lines in a real fish.
func TestCompletionFish(t *testing.T) {
	fish := oracles.RequireCompiler(t, "fish")
	dir := t.TempDir()
	for name, text := range map[string]string{"completion": completionScript(t, "fish"), "main.ptx": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ line, want, not string }{
		{"ptxlink --depend", "--dependency-file", ""},
		{"ptxlink ex", "extract", "check"},
		{"ptxlink main.ptx ex", "", "extract"},
		{"ptxlink nm --und", "--undefined-only", "--undefined"},
		{"ptxlink --format ", "cubin", "main.ptx"},
		{"ptxlink ar --format ", "zstd", "cubin"},
		{"ptxlink -o ma", "main.ptx", ""},
		{"ptxlink completion ", "powershell", "main.ptx"},
		{"ptxlink -Ma", "-Map", ""},
		{"ptxlink -Wno-od", "-Wno-odr", "-Wodr"},
		{"ptxlink -Werror=od", "-Werror=odr", ""},
		{"ptxlink --arch sm_9", "sm_90", "sm_80"},
		{"ptxlink explain undef", "undefined-symbol", "main.ptx"},
	} {
		cmd := exec.Command(fish, "--no-config", "-c", "source completion; complete -C "+quote(test.line))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var replies []string
		for line := range strings.SplitSeq(string(out), "\n") {
			reply, _, _ := strings.Cut(line, "\t")
			replies = append(replies, reply)
		}
		if test.want != "" && !slices.Contains(replies, test.want) || test.not != "" && slices.Contains(replies, test.not) {
			t.Errorf("%q: %q", test.line, replies)
		}
	}
}

// TestCompletionZsh completes command lines in a real zsh, on a terminal of its own.
func TestCompletionZsh(t *testing.T) {
	zsh := oracles.RequireCompiler(t, "zsh")
	dir := t.TempDir()
	lines := map[string]string{
		"ptxlink --dependency-f":     "ptxlink --dependency-file ",
		"ptxlink ext":                "ptxlink extract ",
		"ptxlink nm --und":           "ptxlink nm --undefined-only ",
		"ptxlink --format=cu":        "ptxlink --format=cubin ",
		"ptxlink -L li":              "ptxlink -L libs/",
		"ptxlink --output=mai":       "ptxlink --output=main.ptx ",
		"ptxlink 'main.ptx' -o map":  `ptxlink 'main.ptx' -o map\ file.txt `,
		"ptxlink --resource-usage=c": "ptxlink --resource-usage=compare ",
		"ptxlink --print-dep":        "ptxlink --print-dependencies",
		"ptxlink -Wno-unused-o":      "ptxlink -Wno-unused-option ",
	}
	// ^X writes the line to a file and clears it; zsh reads the keys in order. fetch.sh names
	// the modules in $ZSH_MODULES.
	script := `module_path+=($=ZSH_MODULES)
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'module_path+=($=ZSH_MODULES); zmodload zsh/zle; setopt zle; autoload -Uz compinit; compinit -D -u; source ./completion; show() { print -r -- "$BUFFER" >> out; BUFFER=; }; zle -N show; bindkey "^X" show; print ready > ready'
until [[ -e ready ]]; do sleep 0.1; done
`
	for line := range lines {
		script += "zpty -w -n z " + quote(line) + "$'\\t\\x18'\n"
	}
	script += "until [[ -e out && $(wc -l < out) -ge " + fmt.Sprint(len(lines)) + " ]]; do sleep 0.1; done\nzpty -d z\n"
	for name, text := range map[string]string{"completion": completionScript(t, "zsh"), "drive": script, "main.ptx": "", "map file.txt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "libs"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(zsh, "-f", "drive")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range lines {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("%s: no %q in\n%s", line, want, text)
		}
	}
}

// TestCompletionSyntax reads the scripts with the shells that are there.
func TestCompletionSyntax(t *testing.T) {
	dir := t.TempDir()
	for program, args := range map[string][]string{
		"bash": {"-n"},
		"zsh":  {"-n"},
		"fish": {"--no-execute"},
		"pwsh": {"-NoProfile", "-File"},
		// A grammar, for machines without PowerShell. It reports nothing on success.
		"powershell-syntax": nil,
	} {
		shell := program
		if !slices.Contains(shells, shell) {
			shell = "powershell"
		}
		path, ok := oracles.Find(program)
		if !ok {
			t.Logf("no %s", program)
			continue
		}
		file := filepath.Join(dir, program+".ps1")
		if err := os.WriteFile(file, []byte(completionScript(t, shell)), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, append(args, file)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
}

// TestManualPages checks the pages with groff, which warns of unknown macros.
func TestManualPages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip(err)
	}
	for _, s := range allCommands() {
		cmd := exec.Command(groff, "-man", "-Tascii", "-ww", "-z")
		cmd.Stdin = bytes.NewReader(render(manTemplate, s))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", s.Title(), err, out)
		}
	}
}

// TestInstall runs make install into a directory.
func TestInstall(t *testing.T) {
	oracles.Long(t) // builds ptxlink
	make, err := exec.LookPath("make")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(make, "-C", "../..", "install", "DESTDIR="+dir, "PREFIX=/usr").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path, starts := range map[string]string{
		"share/man/man1/ptxlink.1":                     `.\" Made by: ptxlink manual`,
		"share/man/man1/ptxlink-nm.1":                  `.\" Made by: ptxlink manual nm`,
		"share/bash-completion/completions/ptxlink":    "# Made by: ptxlink completion bash",
		"share/zsh/site-functions/_ptxlink":            "#compdef ptxlink",
		"share/fish/vendor_completions.d/ptxlink.fish": "# Made by: ptxlink completion fish",
		"share/powershell/ptxlink.ps1":                 "# Made by: ptxlink completion powershell",
		"share/doc/ptxlink/README.md":                  "# ptxlink",
		"share/doc/ptxlink/docs/errors.md":             "# Errors and warnings",
		"share/doc/ptxlink/docs/nvjitlink.py":          `"""nvjitlink.py`,
	} {
		if text, err := os.ReadFile(filepath.Join(dir, "usr", path)); err != nil || !strings.HasPrefix(string(text), starts) {
			t.Errorf("%s: %v, begins with %.40q", path, err, text)
		}
	}
	if out, err := exec.Command(filepath.Join(dir, "usr/bin/ptxlink"), "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ptxlink ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// helpText returns what --help prints.
func helpText(t *testing.T, s subcommand) string {
	var out, stderr bytes.Buffer
	if code := run(t.Context(), strings.Fields(s.Name+" --help"), nil, &out, &stderr); code != exitOK {
		t.Fatalf("%s --help: exit code %d\n%s", s.Line(), code, stderr.String())
	}
	return out.String()
}

// completionScript returns what ptxlink completion prints.
func completionScript(t *testing.T, shell string) string {
	script, err := completionScripts.ReadFile("completion/ptxlink." + shell)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// quote quotes a word for a POSIX shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
