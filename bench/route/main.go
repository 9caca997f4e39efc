// Command route compares the ways from modules to a cubin: ptxlink, and ptxas -c for
// each module with nvlink, from the start and after a change of one module.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"ptxlink/bench/gen"
	"ptxlink/internal/oracles"
)

func main() {
	b := &bench{}
	flag.IntVar(&b.rounds, "rounds", 9, "rounds; the fastest counts")
	flag.IntVar(&b.jobs, "jobs", 2, "runs of ptxas at a time, in both ways")
	flag.IntVar(&b.modules, "modules", 60, "modules of the large program, of 560 KB each")
	flag.StringVar(&b.ptxlink, "ptxlink", "", "`PATH` of ptxlink (default: build it)")
	only := flag.String("sets", "shared,few,apart,large", "programs to measure")
	flag.Parse()
	if err := b.run(strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "route:", err)
		os.Exit(1)
	}
}

type bench struct {
	rounds, jobs, modules  int
	dir                    string
	ptxlink, ptxas, nvlink string
}

// A program is some modules and how often it is measured.
type program struct {
	name, title string
	rounds      int
	write       func(b *bench) (modules []module, err error)
}

type module struct {
	name string
	text []byte
}

func (b *bench) run(only []string) (err error) {
	if b.dir, err = os.MkdirTemp("", "route"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	// The wrappers in bin are shell scripts, which start a second program.
	tools := filepath.Join(oracles.Dir(), "cuda-12.4", "bin")
	b.ptxas, b.nvlink = filepath.Join(tools, "ptxas"), filepath.Join(tools, "nvlink")
	if b.ptxlink == "" {
		b.ptxlink = filepath.Join(b.dir, "ptxlink")
		if out, err := exec.Command("go", "build", "-o", b.ptxlink, "./cmd/ptxlink").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	fmt.Println("| program | way | CPU s | wall s |\n|---|---|---|---|")
	for _, p := range []program{
		{"shared", "16 kernels that call one function of 800 instructions", b.rounds, shared},
		{"few", "4 modules of 1000 instructions that call only their own functions", b.rounds, apart(4)},
		{"apart", "32 such modules", b.rounds, apart(32)},
		{"large", "", max(1, b.rounds/4), large},
	} {
		if slices.Contains(only, p.name) {
			if err := b.measure(p); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// used is the time of one command or several.
type used struct{ cpu, wall time.Duration }

func (b *bench) measure(p program) error {
	modules, err := p.write(b)
	if err != nil {
		return err
	}
	var names []string
	size := 0
	for _, m := range modules {
		names = append(names, m.name)
		size += len(m.text)
		if err := os.WriteFile(filepath.Join(b.dir, m.name), m.text, 0o666); err != nil {
			return err
		}
	}
	if p.title == "" {
		p.title = fmt.Sprintf("%d modules of nvcc's style that call each other, %d MB", len(modules), size>>20)
	}
	jobs := fmt.Sprintf("--ptxas-jobs=%d", b.jobs)
	// Nothing is removed, so that both ways assemble the same functions.
	link := append([]string{"--no-gc-sections", "--ptxas=" + b.ptxas, "--arch=sm_80", jobs, "-o", "out.cubin"}, names...)
	cached := append([]string{"--cache-dir=cache"}, link...)
	if err := os.RemoveAll(filepath.Join(b.dir, "cache")); err != nil {
		return err
	}
	if _, err := b.command(context.Background(), b.ptxlink, cached...); err != nil {
		return err
	}
	ways := []struct {
		title string
		run   func(round int) (used, error)
	}{
		{fmt.Sprintf("`ptxas -c` each, %d at a time, and nvlink", b.jobs), func(int) (used, error) { return b.each(names) }},
		{"ptxlink", func(int) (used, error) { return b.command(context.Background(), b.ptxlink, link...) }},
		{"ptxlink, cache, the first module changed", func(round int) (used, error) { return b.changed(modules[0], round, cached) }},
		{"ptxlink, cache, another module changed", func(round int) (used, error) { return b.changed(modules[len(modules)/3], round, cached) }},
	}
	best := make([]used, len(ways))
	for round := range p.rounds {
		for i, way := range ways {
			u, err := way.run(round)
			if err != nil {
				return fmt.Errorf("%s: %w", way.title, err)
			}
			if round == 0 {
				best[i] = u
			}
			best[i].cpu, best[i].wall = min(best[i].cpu, u.cpu), min(best[i].wall, u.wall)
		}
	}
	for i, way := range ways {
		title := ""
		if i == 0 {
			title = p.title
		}
		fmt.Printf("| %s | %s | %.2f (%.0f %%) | %.2f (%.0f %%) |\n", title, way.title,
			best[i].cpu.Seconds(), 100*best[i].cpu.Seconds()/best[0].cpu.Seconds(), best[i].wall.Seconds(), 100*best[i].wall.Seconds()/best[0].wall.Seconds())
	}
	return nil
}

// each assembles every module and links the cubins, as nvcc does.
func (b *bench) each(names []string) (total used, err error) {
	start := time.Now()
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(b.jobs)
	list := make([]used, len(names))
	args := []string{"-arch=sm_80", "-o", "each.cubin"}
	for i, name := range names {
		args = append(args, name+".cubin")
		group.Go(func() (err error) {
			list[i], err = b.command(ctx, b.ptxas, "-c", "-arch=sm_80", name, "-o", name+".cubin")
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return used{}, err
	}
	last, err := b.command(context.Background(), b.nvlink, args...)
	for _, u := range append(list, last) {
		total.cpu += u.cpu
	}
	total.wall = time.Since(start)
	return total, err
}

// changed adds an instruction to the last function of a module and links.
func (b *bench) changed(m module, round int, args []string) (used, error) {
	at := bytes.LastIndex(m.text, []byte("ret;"))
	if at < 0 {
		return used{}, errors.New("the module has no function")
	}
	text := slices.Concat(m.text[:at], fmt.Appendf(nil, "bar.warp.sync %d; ", round+1), m.text[at:])
	if err := os.WriteFile(filepath.Join(b.dir, m.name), text, 0o666); err != nil {
		return used{}, err
	}
	return b.command(context.Background(), b.ptxlink, args...)
}

func (b *bench) command(ctx context.Context, name string, args ...string) (used, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = b.dir
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return used{}, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, out)
	}
	return used{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(start)}, nil
}

func shared(*bench) (modules []module, err error) {
	const call = ".extern .func (.param .b32 r) f(.param .b32 x);\n"
	modules = append(modules, module{"f.ptx", []byte(header + function(".visible ", "f", 0, 800))})
	for i := range 16 {
		modules = append(modules, module{fmt.Sprintf("k%d.ptx", i), []byte(header + call + kernel(i, 30, "f"))})
	}
	return modules, nil
}

func apart(n int) func(*bench) ([]module, error) {
	return func(*bench) (modules []module, err error) {
		for i := range n {
			text, callees := header, []string{}
			for k := range 3 {
				callees = append(callees, fmt.Sprintf("f%d_%d", i, k))
				text += function("", callees[k], 3*i+k, 250)
			}
			modules = append(modules, module{fmt.Sprintf("a%d.ptx", i), []byte(text + kernel(i, 200, callees...))})
		}
		return modules, nil
	}
}

func large(b *bench) (modules []module, err error) {
	p := gen.Program{Modules: b.modules, Functions: 177, Externs: 216, Size: 560_000}
	for i := range b.modules {
		var text bytes.Buffer
		if err := p.Write(&text, i); err != nil {
			return nil, err
		}
		modules = append(modules, module{fmt.Sprintf("m%d.ptx", i), text.Bytes()})
	}
	return modules, nil
}

const header = ".version 8.0\n.target sm_80\n.address_size 64\n\n"

func function(linkage, name string, seed, size int) string {
	return linkage + ".func (.param .b32 r) " + name + "(.param .b32 x)\n{\n\t.reg .b32 %r<12>;\n\tld.param.u32 %r0, [x];\n" +
		arithmetic(seed, size) + "\tst.param.b32 [r], %r3;\n\tret;\n}\n\n"
}

func kernel(i, size int, callees ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, ".visible .entry k%d(.param .u64 p)\n{\n\t.reg .b32 %%r<12>;\n\t.reg .b64 %%d;\n\tld.param.u64 %%d, [p];\n\tld.global.u32 %%r0, [%%d];\n", i)
	io.WriteString(&s, arithmetic(i, size))
	for _, callee := range callees {
		fmt.Fprintf(&s, "\t{\n\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %%r2;\n\tcall (b), %s, (a);\n\tld.param.b32 %%r2, [b];\n\t}\n", callee)
	}
	s.WriteString("\tst.global.u32 [%d], %r2;\n\tret;\n}\n")
	return s.String()
}

// arithmetic returns instructions that depend on each other and on %r0.
func arithmetic(seed, size int) string {
	var s strings.Builder
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&s, "\tadd.s32 %%r%d, %%r0, %d;\n", i, 17*i+seed)
	}
	for i := range size - 11 {
		a, b, c := (7*i+seed)%12, (5*i+3*seed+1)%12, (3*i+seed+2)%12
		switch i % 4 {
		case 0:
			fmt.Fprintf(&s, "\tmad.lo.s32 %%r%d, %%r%d, %%r%d, %d;\n", a, b, c, i+seed)
		case 1:
			fmt.Fprintf(&s, "\txor.b32 %%r%d, %%r%d, %%r%d;\n", a, b, c)
		case 2:
			fmt.Fprintf(&s, "\tshl.b32 %%r%d, %%r%d, %d;\n", a, b, 1+(i+seed)%7)
		case 3:
			fmt.Fprintf(&s, "\tsub.s32 %%r%d, %%r%d, %%r%d;\n", a, b, c)
		}
	}
	return s.String()
}
