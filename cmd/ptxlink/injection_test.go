//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
)

// hostile holds everything in a name that a terminal would act on: 7-bit and 8-bit
// escape sequences, a bidirectional control, invalid UTF-8, and a line end followed
// by a forged message.
const hostile = "\x1b]0;title\a\x1b[31m\u009b2J\u202e\u2066\xff\x7f\r\nforged: error: made up"

// hostileFiles are inputs with hostile text in their names, in the names of their
// members, in comments and in records.
type hostileFiles struct{ good, other, twice, bad, archive, clean, elf, gone, ptxas, llc, empty string }

func writeHostile(t *testing.T) hostileFiles {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Skip(err) // a file system without such names
		}
		return path
	}
	comment := strings.NewReplacer("\r", " ", "\n", " ").Replace(hostile)
	const top = ".version 7.8\n.target sm_75\n.address_size 64\n"
	text := "//\n/* ptxlink-meta: os=linux" + comment + " xxh64=" + comment + " */\n// " + comment + "\n" + top
	// Long names in BSD format may contain a line end.
	member := func(name, text string) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n%s%s%s", fmt.Sprintf("#1/%d", len(name)), 0, 0, 0, "644", len(name)+len(text), name, text, strings.Repeat("\n", (len(name)+len(text))%2))
	}
	say := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo nvptx64; exit 0; fi\n" +
		"printf '%s' \"" + strings.NewReplacer("\n", "\n", `"`, `\"`).Replace("ptxas linked.ptx, line 5; error   : "+hostile+"\nptxas info    : "+hostile+"\n"+hostile) + "\"\nexit 1\n"
	return hostileFiles{
		good:    write("good"+hostile+".ptx", text+".extern .func lib /* "+comment+" */ ();\n.visible .entry k () { call lib; ret; }\n.global .u32 x;\n", 0o666),
		other:   write("other"+hostile+".ptx", text+".extern .func lib ();\n.visible .entry k2 () { .reg .b32 x; call lib; ret; }\n.global .u32 x;\n.weak .func w () { ret; }\n", 0o666),
		twice:   write("twice"+hostile+".ptx", text+".weak .func w () { membar.gl; ret; }\n.visible .entry k () { ret; }\n.extern .func none ();\n.visible .func u () { call none; ret; }\n", 0o666),
		bad:     write("bad"+hostile+".ptx", text+".visible .func f() { /* "+comment+" */ mov.u64 %r, }}\n\x1b[2J\n", 0o666),
		archive: write("lib"+hostile+".a", "!<arch>\n"+member("lib"+hostile+".ptx", text+".visible .func lib () { ret; }\n")+member("more"+hostile, text+".visible .func more () { ret; }\n"), 0o666),
		clean:   write("clean"+hostile+".a", "!<arch>\n"+member("clean"+hostile, top), 0o666),
		elf:     write("elf"+hostile, "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 60), 0o666),
		empty:   write("empty"+hostile, "", 0o666),
		gone:    filepath.Join(dir, "gone"+hostile),
		ptxas:   write("ptxas"+hostile, say, 0o777),
		llc:     write("llc"+hostile, say, 0o777),
	}
}

// TestNothingHostileIsWritten runs every subcommand with each of its boolean
// options, and with the options that write text, on hostile files. No output may
// contain a character that a terminal acts on, or a line forged by a name.
func TestNothingHostileIsWritten(t *testing.T) {
	f := writeHostile(t)
	t.Chdir(t.TempDir()) // extract writes here
	type job struct {
		flags []cli.Flag
		args  []string
	}
	jobs := []job{
		{linking.table().shown, []string{f.good, f.other, f.archive}},
		{linking.table().shown, []string{f.good, f.twice, f.other, f.archive}},
		{linking.table().shown, []string{"--cubin", "--ptxas", f.ptxas, f.good, f.archive}},
		{linking.table().shown, []string{"--ptxas", f.gone, "--cubin", f.good, f.archive}},
	}
	for _, input := range []string{f.bad, f.archive, f.elf, f.empty, f.gone} {
		jobs = append(jobs, job{linking.table().shown, []string{input}})
	}
	for _, extra := range []string{"-Map=-", "-L" + f.gone, "-l" + hostile, "-u" + hostile, "--require-defined=" + hostile, "--allow-undefined=[" + hostile, "--arch=" + hostile, "--host=" + hostile, "-W" + hostile, "-Wno-" + hostile,
		"--" + hostile, "-j" + hostile, "--output=" + f.gone + "/x", "--output=" + f.good, "-Xptxas=" + hostile, "@" + f.gone} {
		jobs = append(jobs, job{nil, []string{extra, f.good, f.other, f.archive}})
	}
	for _, format := range diag.Formats {
		for _, args := range [][]string{{f.good, f.twice, f.other, f.archive}, {"--cubin", "--ptxas", f.ptxas, f.good, f.archive}, {f.bad}, {f.gone}, {"--" + hostile, f.good}} {
			jobs = append(jobs, job{nil, append([]string{"--diagnostics-format=" + format, "--verbose"}, args...)})
		}
	}
	for _, sub := range subcommands {
		args := map[string][][]string{
			"abi":       {{"struct " + hostile}, {"struct { int a; } s"}, {"char c['" + hostile + "']"}},
			"ar":        {{"t", f.archive}, {"tv", f.archive}, {"pv", f.archive, "none" + hostile}, {"pv", f.clean}, {"xv", "--output", t.TempDir(), f.archive}, {f.gone, f.good, f.archive}, {"rcv", f.gone, f.good, f.other}, {"rv", f.gone, f.good}, {"dv", f.gone, hostile}, {"t", f.good}, {hostile, f.archive}, {"dv", f.clean, "clean" + hostile}},
			"libdevice": {{"--cuda", f.good, "--llc", f.llc}, {"--cuda", f.gone}, {"--cuda", f.good}},
		}[sub.Name]
		if args == nil {
			args = [][]string{{f.good, f.other, f.archive}, {f.bad}, {f.gone}, {f.archive, f.elf}}
		}
		for _, a := range args {
			jobs = append(jobs, job{sub.table().shown, append([]string{sub.Name}, a...)})
		}
	}
	runs := 0
	check := func(args []string) {
		runs++
		out := filepath.Join(t.TempDir(), "out")
		files := map[string]string{} // options that write a text
		args = append([]string(nil), args...)
		if newLink := findsLink(args); newLink {
			for _, name := range []string{"Map", "dependency-file", "unused-inputs"} {
				if !strings.Contains(strings.Join(args, " "), "-"+name) {
					files[name] = out + "." + name
				}
			}
			// Make and Bazel do not support such names, so these two files refuse
			// them.
			delete(files, "dependency-file")
			delete(files, "unused-inputs")
			args = append(args, "-o", out+".ptx")
		}
		for name, path := range files {
			args = append(args, "--"+name+"="+path)
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(".version 7.8\n"), &stdout, &stderr)
		if code == exitBug {
			t.Errorf("%q: %s", args, stderr.String())
		}
		texts := map[string]string{"stdout": stdout.String(), "stderr": stderr.String()}
		for name, path := range files {
			if text, err := os.ReadFile(path); err == nil {
				texts[name] = string(text)
			}
		}
		for name, text := range texts {
			if what := harmful(text); what != "" {
				t.Errorf("%q: %s has %s:\n%q", args, name, what, text)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(stdout.String()), "[") || strings.HasPrefix(stdout.String(), "{") {
			var v any
			if err := json.Unmarshal(stdout.Bytes(), &v); err != nil {
				t.Errorf("%q: %v in %s", args, err, stdout.String())
			}
		}
	}
	for _, j := range jobs {
		check(j.args)
		for _, b := range j.flags {
			if name := b.Names()[0]; !needsValue(b) && describeFlag(b).Value == "" && name != "help" && name != "version" {
				option := spell(name)
				args := []string{option}
				if !findsLink(j.args) {
					args = []string{j.args[0], option}
					args = append(args, j.args[1:]...)
				} else {
					args = append(args, j.args...)
				}
				check(args)
			}
		}
	}
	if runs < 150 {
		t.Errorf("only %d runs", runs)
	}
}

// findsLink reports whether args are those of a link.
func findsLink(args []string) bool {
	sub, _ := findSubcommand(args)
	return sub.Name == ""
}

// harmful returns a description of what a terminal would act on in a text, or of a
// forged line; "" if there is neither.
func harmful(text string) string {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && n == 1 || r != '\n' && r != '\t' && !strconv.IsPrint(r) {
			return fmt.Sprintf("%q", text[at:at+n])
		}
		at += n
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "forged") {
			return "a forged line"
		}
	}
	return ""
}

// TestNamesInDependencyFiles checks that files for other programs contain names
// unchanged, and that names with control characters are refused.
func TestNamesInDependencyFiles(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name string
		code int
	}{{"plain.ptx", exitOK}, {"caf\xe9.ptx", exitOK}, {"a b.ptx", exitOK}, {"e\x1b[31m.ptx", exitIO}, {"n\nl.ptx", exitIO}, {"c\u009b.ptx", exitIO}, {"c\x9b.ptx", exitIO}, {"b\u202e.ptx", exitIO}} {
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, []byte(".version 7.8\n.target sm_75\n.address_size 64\n.visible .func f () { ret; }\n"), 0o666); err != nil {
			t.Skip(err)
		}
		var stderr bytes.Buffer
		code := run(t.Context(), []string{path, "-o", filepath.Join(dir, "out.ptx"), "--dependency-file=" + filepath.Join(dir, "out.d")}, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if code != test.code || harmful(stderr.String()) != "" {
			t.Errorf("%q: exit code %d: %q", test.name, code, stderr.String())
		}
	}
}
