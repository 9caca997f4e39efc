// Gotest runs go test with the given arguments. It prints the results, as go test does, and
// then the skipped tests by reason. With PTXLINK_REQUIRE_ORACLES=1 a skipped test is a failure. It is one too if a
// test runs a tool of the machine: programs that fail stand in for them ([oracles.Decoys]).
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"ptxlink/internal/oracles"
)

// event is what go test -json prints for each step of a test (go doc test2json).
type event struct{ Action, Package, Test, Output string }

func main() {
	skipped, ran, err := run(os.Args[1:])
	if ran != "" {
		fmt.Fprint(os.Stderr, "gotest: tests ran tools of the machine, for which these stood in; oracles.Main hides them:\n", ran)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		os.Exit(1) // go test printed why
	}
	if err == nil && ran != "" {
		os.Exit(1)
	}
	if err == nil && skipped && os.Getenv(oracles.RequireVar) == "1" {
		err = errors.New("tests were skipped, and " + oracles.RequireVar + " is 1")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(args []string) (skipped bool, ran string, err error) {
	decoys, err := oracles.LayDecoys()
	if err != nil {
		return false, "", err
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), decoys.Env()...)
	events, err := cmd.StdoutPipe()
	if err != nil {
		return false, "", err
	}
	if err := cmd.Start(); err != nil {
		return false, "", err
	}
	skipped, err = report(os.Stdout, events)
	err = cmp.Or(cmd.Wait(), err)
	ran, unread := decoys.Ran()
	return skipped, ran, cmp.Or(err, unread)
}

// report prints the results of packages and the output of failed tests, and at the end the
// skipped tests.
func report(w io.Writer, events io.Reader) (skipped bool, err error) {
	running := map[[2]string][]string{} // the output of tests that have not ended
	reasons := map[string][]string{}
	decoder := json.NewDecoder(events)
	for decoder.More() {
		var e event
		if err := decoder.Decode(&e); err != nil {
			return false, err
		}
		key := [2]string{e.Package, e.Test}
		switch {
		case e.Action == "build-output", e.Action == "output" && e.Test == "":
			if e.Output != "PASS\n" {
				fmt.Fprint(w, e.Output)
			}
		case e.Action == "output":
			if !strings.HasPrefix(e.Output, "=== ") {
				running[key] = append(running[key], e.Output)
			}
		case e.Action == "fail" && e.Test == "":
			// A test that panics or runs out of time has no end.
			for _, other := range slices.SortedFunc(maps.Keys(running), func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) }) {
				if other[0] == e.Package {
					fmt.Fprint(w, strings.Join(running[other], ""))
				}
			}
		case e.Action == "fail":
			fmt.Fprint(w, strings.Join(running[key], ""))
			delete(running, key)
		case e.Action == "skip" && e.Test != "":
			why := reason(strings.Join(running[key], ""))
			reasons[why] = append(reasons[why], strings.TrimPrefix(e.Package, "ptxlink/")+" "+e.Test)
			delete(running, key)
		case e.Action == "pass":
			delete(running, key)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(w, "skipped: %s\n", why)
		for _, test := range slices.Sorted(slices.Values(reasons[why])) {
			fmt.Fprintf(w, "\t%s\n", test)
		}
	}
	return len(reasons) > 0, nil
}

var logged = regexp.MustCompile(`(?m)^    (\S+\.go):\d+: (.*)`)

// reason returns what a skipped test logged last. A script logs its commands after that.
func reason(output string) string {
	why := "no reason"
	for _, m := range logged.FindAllStringSubmatch(output, -1) {
		if m[1] != "testscript.go" {
			why = m[2]
		}
	}
	return why
}
