//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// faulty stands in for ptxas and nvlink. $FAULT is the run that fails, and how.
const faulty = `#!/bin/sh
run=${0##*/}
case " $* " in *" --version "*) run= ;; *" -c "*) run=$run-c ;; esac
case $FAULT in
"$run killed") kill -KILL $$ ;;
"$run crashes") kill -SEGV $$ ;;
"$run cannot read") rm -f *.ptx *.cubin ;;
"$run disk is full") trap '' XFSZ; ulimit -f 1 ;;
"$run writes nothing") exit 0 ;;
"$run says nothing") exit 9 ;;
"$run has no memory") echo "${0##*/} fatal   : Memory allocation failure"; exit 1 ;;
esac
case $0 in *ptxas) exec "$REAL_PTXAS" "$@" ;; *) exec "$REAL_NVLINK" "$@" ;; esac
`

// TestFaults makes each program of each way to a cubin fail, as a machine does. That is an error of the link, and
// never a reason to take another way.
func TestFaults(t *testing.T) {
	real := map[string]string{}
	for _, tool := range []string{"ptxas", "nvlink", "fatbinary"} {
		real[tool] = oracles.Require(t, tool)
		t.Setenv("REAL_"+strings.ToUpper(tool), real[tool])
	}
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write("ptxas", faulty)
	write("nvlink", faulty)
	const head = "//\n.version 7.0\n.target sm_80\n.address_size 64\n"
	kernel := func(name string) string {
		return ".visible .entry " + name + "() { .reg .b64 a; P: .callprototype _ (); ld.global.u64 a, [table]; call a, P; call f; ret; }\n"
	}
	names := ".extern .global .u64 table[1];\n.extern .func f ();\n"
	body := strings.Repeat("bar.sync 0; ", 300)
	write("f.ptx", head+".visible .func f() { "+body+"ret; }\n.visible .global .u64 table[1] = {f};\n")
	write("one.ptx", head+names+kernel("k"))
	many := head + names
	for i := range 12 {
		many += kernel(fmt.Sprint("k", i))
	}
	write("many.ptx", many)
	for _, name := range []string{"one", "many", "f"} {
		for _, command := range []string{"ptxas -arch=sm_80 -c x.ptx -o x.cubin", "fatbinary -64 -c --create=x.fatbin --image3=kind=ptx,sm=80,file=x.ptx --image3=kind=elf,sm=80,file=x.cubin"} {
			args := strings.Fields(strings.ReplaceAll(command, "x.", name+"."))
			if said, err := exec.Command(real[args[0]], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v, %s", command, err, said)
			}
		}
	}
	t.Setenv("PTXAS", filepath.Join(dir, "ptxas"))
	for _, way := range []struct{ args, runs string }{
		{"one.ptx f.ptx", "ptxas ptxas-c nvlink"}, // both ways are tried
		{"one.ptx f.ptx --ptxas-mode=whole", "ptxas"},
		{"one.ptx f.ptx --ptxas-mode=separate", "ptxas-c nvlink"},
		{"one.ptx f.ptx --partition=2 --cache-dir=cache", "ptxas-c nvlink"},
		{"many.ptx f.ptx", "ptxas-c nvlink"}, // the automatic choice
		{"one.ptx f.ptx -c", "ptxas-c"},
		{"one.fatbin f.fatbin", "ptxas nvlink"}, // cubins of the inputs beside the whole program
		{"many.fatbin f.fatbin", "nvlink"},
		{"one.cubin f.ptx", "ptxas-c nvlink"},
		{"nvlink one.fatbin f.fatbin", "ptxas nvlink"},
		{"nvlink many.fatbin f.fatbin", "nvlink"},
		{"nvlink many.ptx f.ptx", "ptxas-c nvlink"},
	} {
		for _, run := range strings.Fields(way.runs) {
			for _, how := range []string{"killed", "crashes", "cannot read", "disk is full", "writes nothing", "says nothing", "has no memory"} {
				t.Setenv("FAULT", run+" "+how)
				os.RemoveAll("cache")
				checkFault(t, way.args, strings.TrimSuffix(run, "-c"))
			}
		}
		// Without a fault, exactly these programs run.
		t.Setenv("FAULT", "")
		if code, said := cubin(t, way.args); code != exitOK {
			t.Errorf("%s: %d, %s", way.args, code, said)
		}
		os.Remove("out.cubin")
	}
	s := serve(t)
	for _, how := range []string{"killed", "disk is full"} {
		t.Setenv("FAULT", "ptxas "+how)
		s.send(map[string]any{"id": 1, "args": []string{"one.ptx", "f.ptx", "-o", "out.cubin", "--arch=sm_80"}, "outputs": []string{"out.cubin"}})
		if a, parts := s.answer(); a["code"] != float64(exitIO) || len(parts) != 2 || !strings.Contains(parts[1], "error: ptxas") {
			t.Errorf("serve, %s: %v %v", how, a, parts)
		}
	}
	s.end()
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	checkFault(t, "one.ptx f.ptx", "cannot make a temporary directory")
}

// cubin makes out.cubin and returns the exit code and the messages.
func cubin(t *testing.T, args string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	code = run(t.Context(), append(strings.Fields(args), "-o", "out.cubin", "--arch=sm_80"), nil, &out, &out)
	return code, out.String()
}

func checkFault(t *testing.T, args, program string) {
	t.Helper()
	code, said := cubin(t, args)
	_, err := os.Stat("out.cubin")
	if code != exitIO || err == nil || !strings.Contains(said, "error: "+program) {
		t.Errorf("%s, %s: exit code %d, out.cubin: %v\n%s", args, os.Getenv("FAULT"), code, err, said)
		os.Remove("out.cubin")
	}
}
