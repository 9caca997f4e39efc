package resolve

import (
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// What clang 16 to 22 gets wrong with -fgpu-rdc, and NVIDIA's nvlink refuses:
//
//  1. A static variable that host code uses is defined as NAME__static__ and the number of
//     the compilation, but code uses NAME, which is declared .extern (staticTwin).
//  2. A kernel that host code launches and another file defines is declared ".extern .func"
//     (forgetKernelNames).
//
// container.MendClang has the same for cubins.

// staticTwin returns the name of the static variable's definition in the same module; ok is false
// if there is none. defined caches the module's definitions between calls: pass a pointer to a nil
// map first.
func staticTwin(f *object.File, name ptx.NameID, defined *map[string]string) (twin string, ok bool) {
	// A plain name cannot be a static variable, because C++ mangles the names of those.
	if d := f.DeclOf(name); d == nil || d.Kind != ptx.Variable || f.Symbols[name].Defined() || !strings.HasPrefix(f.Names[name], "_Z") {
		return "", false
	}
	if *defined == nil {
		*defined = map[string]string{}
		for n, full := range f.Names {
			if plain, _, found := strings.Cut(full, "__static__"); found && f.Symbols[n].Defined() {
				(*defined)[plain] = full
			}
		}
	}
	twin, ok = (*defined)[f.Names[name]]
	return twin, ok
}

// forgetKernelNames removes the mentions of kernels by modules that only list them, in
// __clang_gpu_used_external, an array that nothing reads
// (testdata/script/clang_kernel_listed.txtar). Such a declaration says nothing about the kernel,
// because clang passes the parameters of functions in other types. If code calls the function or
// takes its address, the mention stays.
func (t *Table) forgetKernelNames() {
	var inCode [][]bool // by file: names that it uses outside initial values
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if s.Uniform || !s.Defined() || t.decl(s.Def) == nil || t.decl(s.Def).Kind != ptx.Entry {
			continue
		}
		s.Mentions = slices.DeleteFunc(s.Mentions, func(id object.ID) bool {
			if !declaresFunction(t.decl(id)) {
				return false
			}
			if inCode == nil {
				inCode = make([][]bool, len(t.Files))
			}
			if inCode[id.File] == nil {
				inCode[id.File] = namesInCode(t.Files[id.File])
			}
			return !inCode[id.File][id.Name]
		})
	}
}

func declaresFunction(d *ptx.Decl) bool { return d != nil && d.Kind == ptx.Func && !d.HasBody }

// ListsKernel reports whether a module mentions the name only in clang's list of external kernels.
// Callers use it for kernels that cubins define.
func ListsKernel(f *object.File, name ptx.NameID) bool {
	return declaresFunction(f.DeclOf(name)) && !namesInCode(f)[name]
}

// namesInCode marks the names that a module uses outside the initial values of variables.
func namesInCode(f *object.File) []bool {
	marked := make([]bool, len(f.Names))
	mark := func(uses []ptx.Use) {
		for _, u := range uses {
			marked[u.Name] = true
		}
	}
	for i := range f.Decls {
		if d := &f.Decls[i]; d.Kind != ptx.Variable {
			mark(f.Uses[d.FirstUse:d.EndUse])
		}
	}
	for _, o := range f.Others {
		mark(f.Uses[o.FirstUse:o.EndUse])
	}
	for _, a := range f.Aliases {
		marked[a.Name], marked[a.Target] = true, true
	}
	return marked
}
