package link_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/pack"
	"ptxlink/link/partition"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

var declarationSets = flag.Int("declarations", 1, "sets of modules that TestDeclarations links")

// TestDeclarations links modules that declare their variables differently and use them
// with indices and literals, in every way that prints declarations again. Each function
// must access in the output what it accesses in its own module.
func TestDeclarations(t *testing.T) {
	d := &accessReader{t: t, ptxas: oracles.Require(t, "ptxas"), nvdisasm: oracles.Require(t, "nvdisasm")}
	for seed := range *declarationSets {
		g := &declarationWriter{rand: rand.New(rand.NewPCG(uint64(seed), 5))}
		inputs := g.modules()
		d.check(seed, "plain", inputs, mustLink(t, link.Options{Inputs: inputs}).PTX)
		backwards := slices.Clone(inputs)
		slices.Reverse(backwards)
		d.check(seed, "backwards", inputs, mustLink(t, link.Options{Inputs: backwards}).PTX)

		half := mustLink(t, link.Options{Inputs: []link.Input{inputs[0], inputs[2]}, Relocatable: true}).PTX
		d.check(seed, "-r", []link.Input{inputs[0], inputs[2]}, half)
		twice := mustLink(t, link.Options{Inputs: []link.Input{{Name: "half.ptx", Text: half}, inputs[1]}}).PTX
		d.check(seed, "-r and again", inputs, twice)

		var members []link.Input
		for _, in := range inputs {
			list, err := pack.Split(context.Background(), in, pack.SplitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, list...)
		}
		d.check(seed, "split", inputs, mustLink(t, link.Options{Inputs: members, AllowDuplicates: true, KeepUnused: true}).PTX)

		for way, o := range map[string]link.Options{
			"--icf":              {Optimize: link.Optimize{Fold: true}},
			"--dedupe-identical": {DedupeIdentical: true},
		} {
			o.Inputs = inputs
			d.check(seed, way, inputs, mustLink(t, o).PTX)
		}
		m, fault := ptx.Parse(&diag.Source{Text: twice})
		if fault != nil {
			t.Fatal(fault)
		}
		for i, part := range partition.New(m).Cut(partition.Options{Parts: 3}) {
			d.check(seed, fmt.Sprintf("part %d", i), inputs, part.Text)
		}
	}
}

// TestDeclarationsReal does the same with modules of real compilers.
func TestDeclarationsReal(t *testing.T) {
	d := &accessReader{t: t, ptxas: oracles.Require(t, "ptxas"), nvdisasm: oracles.Require(t, "nvdisasm")}
	for _, set := range []string{"nvcc-rdc", "mixed"} {
		paths, _ := filepath.Glob("../testdata/ptx/" + set + "/*.ptx")
		var inputs []link.Input
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			inputs = append(inputs, link.Input{Name: filepath.Base(path), Text: text})
		}
		r := mustLink(t, link.Options{Inputs: inputs, KeepUnused: true})
		d.renamed = map[string]string{}
		for _, s := range r.Symbols() {
			d.renamed[s.Name] = s.Original
		}
		d.check(0, set, inputs, r.PTX)
	}
}

// accessReader compares what modules access.
type accessReader struct {
	t               *testing.T
	ptxas, nvdisasm string
	renamed         map[string]string
}

func (d *accessReader) read(text []byte) map[string][]string {
	list, err := oracles.Accesses(d.ptxas, d.nvdisasm, "sm_80", text)
	if err != nil {
		d.t.Fatalf("%v\n%.20000s", err, text)
	}
	return list
}

func (d *accessReader) check(seed int, way string, inputs []link.Input, output []byte) {
	d.t.Helper()
	out, compared := d.read(output), 0
	for _, in := range inputs {
		different, n := oracles.SameAccesses(d.read(in.Text), out, d.renamed)
		if compared += n; len(different) > 0 {
			d.t.Errorf("set %d, %s, %s: %s", seed, way, in.Name, strings.Join(different, "\n"))
		}
	}
	if compared == 0 {
		d.t.Errorf("set %d, %s: no function of the inputs is in the output", seed, way)
	}
}

// declarationWriter writes sets of three modules. The second defines all variables and
// functions.
type declarationWriter struct {
	rand  *rand.Rand
	text  [3]strings.Builder
	count int // functions so far
}

func (g *declarationWriter) pick(list ...string) string { return list[g.rand.IntN(len(list))] }

func (g *declarationWriter) modules() (inputs []link.Input) {
	for i := range g.text {
		g.text[i].WriteString(".version 7.8\n.target sm_80\n.address_size 64\n")
	}
	for i := range 12 {
		g.variable(fmt.Sprintf("v%d", i))
	}
	for i := range 4 {
		g.function(fmt.Sprintf("f%d", i))
	}
	for i := range g.text {
		inputs = append(inputs, link.Input{Name: fmt.Sprintf("%c.ptx", 'a'+i), Text: []byte(g.text[i].String())})
	}
	return inputs
}

// variable declares a variable of 64 bytes in all modules, with elements and a shape of
// its own in each, and writes functions that use it.
func (g *declarationWriter) variable(name string) {
	space := g.pick(".global", ".global", ".const", ".shared")
	linkages := [3]string{".extern", ".visible", ".extern"}
	switch dynamic := g.rand.IntN(6); {
	case dynamic == 0:
		space, linkages = ".shared", [3]string{".extern", ".extern", ".extern"}
	case dynamic == 1 && space == ".global":
		linkages = [3]string{".common", ".common", ".common"}
	case dynamic == 2 && space != ".shared":
		linkages = [3]string{".weak", ".weak", ".extern"}
	}
	for i := range g.text {
		vector, element := g.pick("", "", "", ".v2 ", ".v4 "), g.pick(".b8", ".u8", ".s16", ".f16", ".u32", ".f32", ".b32", ".u64", ".f64")
		if vector == ".v4 " && ptx.TypeSize(element) == 8 {
			vector = ".v2 " // 16 bytes at most
		}
		count := 64 / int(ptx.TypeSize(element)*vectorSize(vector))
		prefix := fmt.Sprintf("%s .align 16 %s%s %s", space, vector, element, name)
		open, sized := "[]", fmt.Sprintf("[%d]", count)
		if count%2 == 0 && g.rand.IntN(3) == 0 {
			open, sized = "[][2]", fmt.Sprintf("[%d][2]", count/2)
		}
		switch {
		case space == ".shared" && linkages[1] == ".extern":
			fmt.Fprintf(&g.text[i], ".extern %s%s;\n", prefix, open)
		case linkages[i] != ".extern":
			if g.rand.IntN(3) == 0 && linkages[i] == ".visible" { // used before it is defined
				fmt.Fprintf(&g.text[i], ".extern %s%s;\n", prefix, open)
				g.use(i, space, name)
			}
			fmt.Fprintf(&g.text[i], "%s %s%s;\n", linkages[i], prefix, sized)
		default:
			fmt.Fprintf(&g.text[i], ".extern %s%s;\n", prefix, g.pick(open, sized))
		}
		g.use(i, space, name)
		g.use(i, space, name)
	}
}

func vectorSize(vector string) int64 {
	switch vector {
	case ".v2 ":
		return 2
	case ".v4 ":
		return 4
	}
	return 1
}

// use writes a function that uses a variable with an index.
func (g *declarationWriter) use(module int, space, name string) {
	index := g.pick("0", "1", "3", "-2", "WARP_SZ", "1+2", "(7-5)*2", "i", "i")
	code := g.pick(
		fmt.Sprintf("ld%s.u8 r, %s[%s]; st.global.u32 [o], r;", space, name, index),
		fmt.Sprintf("mov.u64 e, %s[%s]; st.global.u64 [o], e;", name, index),
		fmt.Sprintf("@p ld%s.u8 r, %s[%s]; st.global.u32 [o], r;", space, name, index),
	)
	fmt.Fprintf(&g.text[module], ".visible .func use%d (.param .b64 out, .param .b32 index) { .reg .b64 o, e; .reg .b32 r, i; .reg .pred p; ld.param.b64 o, [out]; ld.param.b32 i, [index]; ld.global.u32 r, [o+8]; setp.eq.u32 p, r, 3; %s ret; }\n", g.count, code)
	g.count++
}

// function declares a function in all modules, with types of its own in each, and writes
// functions that call it with literals.
func (g *declarationWriter) function(name string) {
	for i := range g.text {
		types := [3]string{g.pick(".f32", ".b32"), g.pick(".s32", ".u32", ".b32"), g.pick(".f64", ".b64")}
		head := fmt.Sprintf(".func %s (.param %s a, .param %s b, .param %s c)", name, types[0], types[1], types[2])
		if i == 1 {
			fmt.Fprintf(&g.text[i], ".visible %s { ret; }\n", head)
		} else {
			fmt.Fprintf(&g.text[i], ".extern %s;\n", head)
		}
		for range 2 {
			single := g.pick("2.0", "-1.5", "0f3f800000", "1e3", "0d4000000000000000", "1.5+1.0")
			fmt.Fprintf(&g.text[i], ".visible .func use%d () { call %s, (%s, %s, %s); ret; }\n", g.count, name, single, g.pick("3", "-1", "WARP_SZ"), g.pick("2.5", "0d4000000000000000"))
			g.count++
		}
	}
}
