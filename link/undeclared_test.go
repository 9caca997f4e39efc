package link_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// TestDeletedDeclarations deletes declarations and labels that something uses from valid modules, one at a time, and
// checks that no link takes the rest beside the whole module, which has everything under its name. It asks ptxas about
// one in fifty.
func TestDeletedDeclarations(t *testing.T) {
	ways := []link.Options{{}, {Relocatable: true}, {CheckOnly: true}, {Optimize: link.Optimize{Level: 2}}, {WarnUndefined: true}, {KeepUnused: true}}
	// Registers are looked up where a module has such a name, as only then one of them could stand for another thing.
	percent := link.Input{Name: "percent.ptx", Text: []byte(".version 6.0\n.target sm_50\n.visible .global .u32 %global;\n")}
	ptxas, deleted, valid := oracles.Require(t, "ptxas-new"), 0, map[string]bool{}
	for _, set := range allLinks(t) {
		for _, in := range set {
			text := in.Text
			if in.Path != "" {
				var err error
				if text, err = os.ReadFile(in.Path); err != nil {
					t.Fatal(err)
				}
			}
			if _, seen := valid[string(text)]; seen {
				continue
			}
			whole := link.Input{Name: "whole.ptx", Text: text}
			_, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{whole, percent}, Relocatable: true})
			if valid[string(text)] = err == nil; err != nil {
				continue
			}
			m, _ := ptx.Parse(&diag.Source{Text: text})
			for _, span := range deletable(m) {
				less := slices.Concat(text[:span.Off], bytes.Repeat([]byte(" "), int(span.Len)), text[span.End():])
				o := ways[deleted%len(ways)]
				o.Inputs, o.AllowDuplicates, o.AllowUndefined = []link.Input{{Name: "less.ptx", Text: less}, whole, percent}, true, []string{"*"}
				deleted++
				if _, err := link.Link(t.Context(), o); !errors.Is(err, diag.UndeclaredName) {
					t.Errorf("%s%s without %q: %v", in.Name, in.Path, text[span.Off:span.End()], err)
				}
				if deleted%50 == 0 {
					file := filepath.Join(t.TempDir(), "less.ptx")
					if err := os.WriteFile(file, less, 0o666); err != nil {
						t.Fatal(err)
					}
					out, err := exec.Command(ptxas, "-c", "-arch="+oracles.GPU(m.Target[0].Word), file, "-o", os.DevNull).CombinedOutput()
					if err == nil {
						t.Errorf("%s%s without %q: ptxas takes it: %s", in.Name, in.Path, text[span.Off:span.End()], out)
					}
				}
			}
		}
	}
	if t.Logf("%d declarations deleted", deleted); deleted < 2000 {
		t.Error("too few")
	}
}

// deletable returns the statements that declare names which later statements use, and which then have no other
// meaning.
func deletable(m *ptx.Module) (list []diag.Span) {
	if len(m.Others) > 0 || len(m.Aliases) > 0 || m.Version.Major > 9 { // these may declare names too
		return nil
	}
	declared, last := make([]int, len(m.Names)), make([]int, len(m.Names))
	for i, d := range m.Decls {
		declared[d.Name]++
		for _, u := range m.Uses[d.FirstUse:d.EndUse] {
			last[u.Name] = i
		}
	}
	for i := range m.Decls {
		d := &m.Decls[i]
		_, _, ranged := ptx.SplitNumber(m.Names[d.Name])
		if declared[d.Name] == 1 && last[d.Name] > i && !ranged {
			list = append(list, d.Span)
		}
		if d.HasBody {
			list = append(list, deletableIn(m, m.Code(d))...)
		}
	}
	return list
}

func deletableIn(m *ptx.Module, c *ptx.Code) (list []diag.Span) {
	declared, used := map[string]int{}, map[int32]bool{}
	for _, name := range m.Names {
		declared[name]++
		if base, _, ok := ptx.SplitNumber(name); ok {
			declared[base]++
		}
	}
	for _, l := range c.Locals {
		base := m.Src.String(l.Name)
		if single, _, ok := ptx.SplitNumber(base); ok && l.Count < 0 {
			declared[single]++ // it may be one of a range
		}
		declared[base]++
	}
	for i, token := range c.Tokens {
		if l, ok := c.Reference(i).Local(); ok && token.Role() == ptx.Refers {
			used[l] = true
		}
	}
	for _, st := range c.Statements {
		for k := st.First; k < st.End; k++ {
			l, ok := c.Reference(int(k)).Local()
			if !ok || c.Tokens[k].Role() != ptx.Declares || !used[l] {
				continue
			}
			name := m.Src.String(c.Locals[l].Name)
			base, _, _ := ptx.SplitNumber(name)
			if declared[name] == 1 && declared[base] <= 1 {
				list = append(list, c.Span(st))
				break
			}
		}
	}
	return list
}
