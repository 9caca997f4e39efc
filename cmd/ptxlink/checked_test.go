package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/object/container"
)

// checkFirst is set in the environment of scripts: each link with options that ptxlink
// check takes too is checked first, and must then end as the check does, with the same
// messages except for help, which names options of the command.
const checkFirst = "PTXLINK_TEST_CHECK_FIRST"

// outputs are options of a link that a check does not need, printed are those that write more
// than messages, name programs that count their runs, or change the next link, and assembling
// those that have no effect in a check without --assemble.
var (
	outputs    = []string{"output", "cubin", "Map", "report", "dot", "dependency-file", "MD", "MF"}
	printed    = []string{"help", "diagnostics-format", "verbose", "trace", "time", "ptxas", "nvlink", "clang", "cache", "cache-dir", "cache-size"}
	assembling = []string{"Xptxas", "ptxas-mode", "ptxas-jobs", "prefer"}
)

// checkArgs returns the arguments of the check for those of a link. ok is false for other
// commands, and for links that a check cannot stand for.
func checkArgs(args []string) (check []string, ok bool) {
	if sub, _ := findSubcommand(args); sub.Name != "" {
		return nil, false
	}
	options, inputs, err := reorder(linking.table(), args)
	if err != nil || len(inputs) == 0 {
		return nil, false
	}
	taken := checkCommand.table()
	check = []string{"check"}
	ptx := !slices.ContainsFunc(options, func(option string) bool {
		return option == "--cubin" || strings.HasPrefix(option, "--output=") && strings.HasSuffix(option, ".cubin")
	})
	if !ptx {
		check = append(check, "--assemble")
	}
	for _, option := range options {
		name, value, _ := strings.Cut(option[2:], "=")
		switch {
		case name == "output" && filepath.Ext(value) != ".ptx" && ptx, slices.Contains(printed, name), ptx && slices.Contains(assembling, name):
			return nil, false
		case name == "l" || slices.Contains(outputs, name):
		case taken.named[name] == nil:
			return nil, false
		default:
			check = append(check, option)
		}
	}
	for _, in := range inputs {
		if info, err := os.Stat(in.name); in.library || in.whole || in.before || err != nil || !info.Mode().IsRegular() {
			return nil, false
		}
		if ptx && onlyCubin(in.name) { // a check takes it, as for a cubin
			return nil, false
		}
		check = append(check, in.name)
	}
	return check, true
}

// onlyCubin reports whether a file has an object with machine code and without PTX.
func onlyCubin(path string) bool {
	data, _ := os.ReadFile(path)
	objects, _ := container.Objects(path, data, container.Options{})
	return slices.ContainsFunc(objects, func(o container.Object) bool { return o.Has(container.MachineCode) && !o.Has(container.PTX) })
}

// runChecked runs ptxlink as main does, behind a check if there can be one.
func runChecked() {
	args := calledAs(os.Args[0], os.Args[1:])
	check, ok := checkArgs(args)
	if !ok {
		return
	}
	var before, after bytes.Buffer
	code := run(context.Background(), check, nil, io.Discard, &before)
	failWrites()
	linked := untilSignal(os.Stderr, func(ctx context.Context) int {
		return run(ctx, args, os.Stdin, os.Stdout, io.MultiWriter(&after, os.Stderr))
	})
	if linked <= exitLink && (linked != code || withoutHelp(before.String()) != withoutHelp(after.String())) {
		fmt.Fprintf(os.Stderr, "ptxlink %s ends with %d and differs:\n%s", strings.Join(check, " "), code, before.String())
		linked = 99
	}
	os.Exit(linked)
}

func withoutHelp(messages string) string {
	var b strings.Builder
	for line := range strings.Lines(messages) {
		if !strings.HasPrefix(line, "help:") {
			b.WriteString(strings.Replace(line, "; --save-temps keeps the linked module", "", 1))
		}
	}
	return b.String()
}
