package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"ptxlink/internal/infile"
	"ptxlink/internal/oracles"
)

var update = flag.Bool("update", false, "rewrite the want files of testdata/script with what ptxlink does now; read the diff")

func TestMain(m *testing.M) {
	testscript.Main(oracles.Hidden{M: m}, map[string]func(){"ptxlink": func() {
		infile.HideDirs()                          // ptxlink is this program too
		if os.Getenv("PTXLINK_TEST_STACK") != "" { // see TestDeep
			debug.SetMaxStack(32 << 20)
		}
		if os.Getenv(checkFirst) != "" {
			runChecked()
		}
		main()
	}})
}

// TestScripts runs testdata/script. Beside what testscript knows, a script has
//
//	ptxlink args...       ptxlink itself
//	exits N prog args...  a program that must end with exit code N
//	accesses OUT IN...    each function of IN accesses the same in OUT
//	ptxas args...         an oracle; the script is skipped where there is none
//	[ptxas]               whether there is one
//	$FORMS                testdata/forms, files of real compilers
//
// and likewise the other tools below. With PTXLINK_REQUIRE_ORACLES=1 a missing
// oracle is a failure.
func TestScripts(t *testing.T) { testscript.Run(t, scripts("../../testdata/script")) }

// scripts returns the parameters of the scripts in a directory.
func scripts(dir string) testscript.Params {
	commands := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "accesses": accesses}
	for _, tool := range []string{
		"ptxas", "ptxas-new", "ptxas-old", "nvlink", "nvlink-new", "cuobjdump", "nvdisasm", "nvdisasm-new", "fatbinary", "fatbinary-new", "nvptx-none-ld", "llvm-dwarfdump", "llvm-nm", "readelf", "ar", "nm", "ld", "clang", "nvcc",
	} {
		commands[tool] = oracle(tool)
	}
	return testscript.Params{
		Dir:           dir,
		Cmds:          commands,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Values["T"] = env.T()
			forms, err := filepath.Abs("../../testdata/forms")
			if err != nil {
				return err
			}
			env.Setenv("FORMS", forms)
			env.Setenv(checkFirst, "1")
			// ptxlink finds each tool on PATH, as for a user.
			if path, ok := oracles.Find("ptxas"); ok {
				env.Setenv("PTXAS", path)
			}
			if path, ok := oracles.Find("nvlink-new"); ok {
				env.Setenv("NVLINK_NEW", path)
			}
			return nil
		},
		Condition: func(tool string) (bool, error) {
			tool, old := strings.CutSuffix(tool, "-12.4") // where 13.5 does something else
			if old && oracles.StandsIn(tool) {
				return false, nil
			}
			if _, known := commands[tool]; !known {
				return false, fmt.Errorf("unknown condition %q", tool)
			}
			_, ok := oracles.Find(tool)
			if text, fatal := oracles.Missing(tool, ""); !ok && fatal {
				return false, errors.New(text)
			}
			return ok, nil
		},
	}
}

// accesses checks that the functions of modules access the same memory in a module
// linked from them (oracles.Accesses).
func accesses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: accesses out.ptx in.ptx...")
	}
	read := func(file string) map[string][]string {
		list, err := oracles.Accesses(oraclePath(ts, "ptxas"), oraclePath(ts, "nvdisasm"), "sm_80", []byte(ts.ReadFile(file)))
		ts.Check(err)
		return list
	}
	out := read(args[0])
	for _, in := range args[1:] {
		different, compared := oracles.SameAccesses(read(in), out, nil)
		if compared == 0 {
			ts.Fatalf("%s: none of its functions is in the output", in)
		}
		if len(different) > 0 {
			ts.Fatalf("%s: %s", in, strings.Join(different, "\n"))
		}
	}
}

// oraclePath returns the path of an oracle. It skips the rest of the script on a machine
// that lacks it.
func oraclePath(ts *testscript.TestScript, name string) string {
	path, ok := oracles.Find(name)
	if !ok {
		text, fatal := oracles.Missing(name, "")
		if fatal {
			ts.Fatalf("%s", text)
		}
		ts.Value("T").(testscript.T).Skip(text)
	}
	return path
}

// oracle returns the script command that runs a tool that ptxlink is compared with.
func oracle(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		path := oraclePath(ts, name)
		switch err := ts.Exec(path, args...); {
		case err != nil && !neg:
			ts.Fatalf("%s: %v", name, err)
		case err == nil && neg:
			ts.Fatalf("%s succeeded", name)
		}
	}
}

// exits runs a program and compares its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}
