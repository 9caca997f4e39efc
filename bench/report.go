//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"ptxlink/internal/oracles"
)

// ratio is one line of the first table.
type ratio struct {
	what          string
	set, command  string
	against       string // as the table says it
	baseSet, base string
	measure       func(*set, *command) float64
}

func wall(s *set, c *command) float64    { return float64(s.time(c.wall)) }
func cpu(s *set, c *command) float64     { return float64(s.time(c.cpu)) }
func perByte(s *set, c *command) float64 { return wall(s, c) / float64(s.bytes) }

var ratios = []ratio{
	{"M: 100 modules, 55 MB", "M", "ptxlink", "cat, time", "M", "cat", wall},
	{"M, what kernels need", "M", "ptxlink, what kernels need", "cat, time", "M", "cat", wall},
	{"M, one thread", "M", "ptxlink -j1", "cat, time", "M", "cat", wall},
	{"M, `-r`", "M", "ptxlink -r", "cat, time", "M", "cat", wall},
	{"L: 1000 modules, 560 MB", "L", "ptxlink", "cat, time", "L", "cat", wall},
	{"L", "L", "ptxlink", "M, time per byte", "M", "ptxlink", perByte},
	{"1000 modules of 55 KB", "modules", "ptxlink", "cat, time", "modules", "cat", wall},
	{"145,000 small functions", "symbols", "ptxlink", "cat, time", "symbols", "cat", wall},
	{"archive without an index, 1 % needed", "archive", "ptxlink, no index", "cat, time", "archive", "cat", wall},
	{"archive with an index, 1 % needed", "archive", "ptxlink, index", "cat, time", "archive", "cat", wall},
	{"M with marker comments", "markers", "ptxlink", "nvptx-none-ld, time", "markers", "nvptx-none-ld", wall},
	{"archive without an index", "archive", "ptxlink, no index", "nvptx-none-ld, time", "archive", "nvptx-none-ld", wall},
	{"gcc's libraries", "gcc", "ptxlink", "nvptx-none-ld, time", "gcc", "nvptx-none-ld", wall},
	{"modules of M", "cubins", "ptxlink", "nvlink on their cubins, CPU time", "cubins", "nvlink", cpu},
	{"modules of M, `-O1`", "cubins", "ptxlink -O1, what kernels need", "`-O0`, time", "cubins", "ptxlink -O0, what kernels need", wall},
	{"modules of M, `-O2`", "cubins", "ptxlink -O2, what kernels need", "`-O0`, time", "cubins", "ptxlink -O0, what kernels need", wall},
	{"modules of M, `-O1`, with all functions", "cubins", "ptxlink -O1", "`-O0`, time", "cubins", "ptxlink", wall},
	{"`nvcc -G`", "nvcc-G", "ptxlink", "the same modules stripped, time", "nvcc-G", "ptxlink, stripped", wall},
	{"`clang -g`", "clang-g", "ptxlink", "the same modules stripped, time", "clang-g", "ptxlink, stripped", wall},
	{"two tiny modules", "tiny", "ptxlink", "an empty Go program, time", "tiny", "empty Go program", wall},
	{"two tiny modules", "tiny", "ptxlink", "nvptx-none-ld, time", "tiny", "nvptx-none-ld", wall},
	{"`--version`", "tiny", "ptxlink --version", "an empty Go program, time", "tiny", "empty Go program", wall},
}

func (b *bench) find(setName, name string) (*set, *command) {
	for _, s := range b.sets {
		for _, c := range s.commands {
			if s.name == setName && c.name == name {
				return s, c
			}
		}
	}
	return nil, nil
}

// lowestPeak returns the resident bytes that every process starts with: those of bench.
func (b *bench) lowestPeak() int64 {
	lowest := b.sets[0].commands[0].peak
	for _, s := range b.sets {
		for _, c := range s.commands {
			lowest = min(lowest, c.peak)
		}
	}
	return lowest
}

// plotFile returns the path of the plot of the page.
func (b *bench) plotFile() string { return strings.TrimSuffix(b.page, filepath.Ext(b.page)) + ".svg" }

// report writes the tables to standard output, and to the page with its plot.
func (b *bench) report() {
	var t bytes.Buffer
	fmt.Fprintf(&t, "| ptxlink on | against | ratio |\n|---|---|---:|\n")
	for _, r := range ratios {
		s, c := b.find(r.set, r.command)
		baseSet, base := b.find(r.baseSet, r.base)
		if c != nil && base != nil {
			fmt.Fprintf(&t, "| %s | %s | %.2f |\n", r.what, r.against, r.measure(s, c)/r.measure(baseSet, base))
		}
	}
	for _, name := range []string{"M", "L", "symbols", "nvcc-G"} {
		if s, c := b.find(name, "ptxlink"); c != nil {
			fmt.Fprintf(&t, "| %s | size of the inputs, peak memory | %.2f |\n", name, float64(c.peak)/float64(s.bytes))
		}
	}
	t.WriteString(b.library())
	for _, s := range b.sets {
		fmt.Fprintf(&t, "\n### %s: %s, %s\n\n", s.name, s.title, bytesOf(s.bytes))
		fmt.Fprintf(&t, "| command | time | against %s | user+sys | peak memory | against input |\n|---|---:|---:|---:|---:|---:|\n", s.commands[0].name)
		for _, c := range s.commands {
			memory := "-"
			if s.bytes > 2*b.lowestPeak() {
				memory = fmt.Sprintf("%.2f", float64(c.peak)/float64(s.bytes))
			}
			fmt.Fprintf(&t, "| %s | %s | %.2f | %s | %s | %s |\n", c.name, milliseconds(s.time(c.wall)), wall(s, c)/wall(s, s.commands[0]),
				milliseconds(s.time(c.cpu)), bytesOf(c.peak), memory)
		}
	}
	if b.page == "" {
		_, err := os.Stdout.Write(t.Bytes())
		check(err)
		return
	}
	var page bytes.Buffer
	plot := b.plotFile()
	fmt.Fprintf(&page, `# Benchmarks

Written by `+"`make bench`"+` on %s at commit %s. Times are medians of %d rounds; a round runs every command once (the
tiny ones %d times), so that a change of the machine's speed affects all alike. Ratios below 1 mean that ptxlink takes less.

![time of ptxlink and nvptx-none-ld as a multiple of cat](%s)

%s
`+"`cat`"+` copies the inputs to a file. nvptx-none-ld concatenates modules and checks nothing; it needs comments of gcc's, which `+"`markers`"+`,
`+"`archive`, `gcc` and `tiny`"+` have. nvlink reads cubins that ptxas made beforehand. ptxlink runs with two threads unless `+"`-j1`"+` is given;
it is built as for a release, with the tag urfave_cli_no_docs, except for `+"`go install`"+`.
Peak memory includes mapped files, and is never below %s, what bench itself has when it starts a command.

%s
## Run it again

    internal/oracles/fetch.sh --compilers    # nvptx-none-ld, nvlink, nvcc, clang; sets that lack their tool are left out
    make bench                               # writes this page
    make bench SETS=M,symbols ROUNDS=3       # prints tables of some sets
    go run ./bench -sets cubins -cubins 100  # nvlink on all of M; ptxas needs minutes
    go test ./link ./object/ptx -run xxx -bench .
`, time.Now().Format(time.DateOnly), b.commit, b.rounds, b.sets[0].repeat, filepath.Base(plot), machine(b.dir), bytesOf(b.lowestPeak()), t.Bytes())
	check(os.WriteFile(plot, b.plot(), 0o666))
	check(os.WriteFile(b.page, page.Bytes(), 0o666))
}

// library returns a sentence about link.Link of two tiny modules, if they were measured.
func (b *bench) library() string {
	if s, _ := b.find("tiny", "ptxlink"); s == nil {
		return ""
	}
	text, err := exec.CommandContext(b.ctx, "go", "test", "./link", "-run", "xxx", "-bench", "Tiny", "-count", strconv.Itoa(b.rounds)).CombinedOutput()
	if err != nil {
		check(fmt.Errorf("go test: %w\n%s", err, text))
	}
	var times []time.Duration
	var allocations string
	for _, m := range regexp.MustCompile(`(\d+) ns/op.* (\d+) allocs/op`).FindAllStringSubmatch(string(text), -1) {
		ns, _ := strconv.Atoi(m[1])
		times, allocations = append(times, time.Duration(ns)), m[2]
	}
	if len(times) == 0 {
		check(fmt.Errorf("go test reports no time:\n%s", text))
	}
	return fmt.Sprintf("\nAs a library, `link.Link` links the two tiny modules in %d microseconds with %s allocations.\n", median(times).Microseconds(), allocations)
}

func milliseconds(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.2f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
}

func bytesOf(n int64) string {
	if n < 100e3 {
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	if n < 10e6 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// commitOf returns the commit of the tree around a directory, which the page names. It is an error if files have
// changes other than those that bench writes: nobody could measure the same program.
func commitOf(dir string, written ...string) (string, error) {
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimRight(string(out), "\n")
	}
	status := []string{"status", "--porcelain", "--", ":/"}
	for _, file := range written {
		status = append(status, ":(exclude)"+file)
	}
	if changes := git(status...); changes != "" {
		return "", fmt.Errorf("commit or remove these changes before the benchmarks, because the page names the commit:\n%s", changes)
	}
	return cmp.Or(git("rev-parse", "--short", "HEAD"), "unknown"), nil
}

// machine returns a table of what the figures depend on.
func machine(dir string) string {
	var t strings.Builder
	t.WriteString("| | |\n|---|---|\n")
	row := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&t, "| %s | %s |\n", what, value)
		}
	}
	row("processor", fmt.Sprintf("%s, %d CPUs", find("/proc/cpuinfo", `model name\s*: (.*)`), runtime.NumCPU()))
	row("memory", find("/proc/meminfo", `MemTotal:\s*(.*)`))
	row("kernel", "Linux "+find("/proc/sys/kernel/osrelease", `(.*)`))
	row("load at the end", find("/proc/loadavg", `(\S+)`))
	row("files in", filepath.Dir(dir))
	row("Go", runtime.Version())
	for _, tool := range []struct{ name, pattern string }{
		{"nvptx-none-ld", `(.*)`}, {"nvlink", `release (\S+),`}, {"ptxas", `release (\S+),`}, {"nvcc", `release (\S+),`}, {"clang", `clang version (\S+)`},
	} {
		if path, ok := oracles.Find(tool.name); ok {
			text, _ := exec.Command(path, "--version").CombinedOutput()
			row(tool.name, match(text, tool.pattern))
		}
	}
	return t.String()
}

func find(path, pattern string) string {
	text, _ := os.ReadFile(path)
	return match(text, pattern)
}

func match(text []byte, pattern string) string {
	if m := regexp.MustCompile(pattern).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}
