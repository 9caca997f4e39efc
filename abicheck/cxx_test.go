package abicheck

import (
	"strconv"
	"strings"
	"testing"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// TestCxxNames checks names and prototypes from compilers, and names with
// prototypes that no compiler makes of them.
func TestCxxNames(t *testing.T) {
	for _, test := range []struct{ what, text, want string }{
		{"plain", ".func _Z3addii (.param .b32 a, .param .b32 b)", ""},
		{"one too few", ".func _Z3addii (.param .b32 a)", "has 1 parameter here, but its name says 2"},
		{"one too many", ".func _Z3addii (.param .b32 a, .param .b32 b, .param .b32 c)", "has 3 parameters here, but its name says 2"},
		{"an array for an int in a function", ".func _Z1fi (.param .align 4 .b8 a[4])", "has 4 bytes aligned to 4 as parameter 1, but its name says int"},
		{"a float for an int", ".func _Z1fi (.param .f32 a)", "has a .f32 as parameter 1, but its name says int"},
		{"a structure for a long", ".func _Z1fl (.param .align 8 .b8 a[16])", "has 16 bytes aligned to 8 as parameter 1, but its name says long"},
		{"a member without this", ".func _ZNK1A1fEf (.param .f32 x)", "has 1 parameter here, but its name says 2"},
		{"an array for a pointer", ".func _Z1fPi (.param .align 8 .b8 a[8])", "has 8 bytes aligned to 8 as parameter 1, but its name says int*"},
		{"a float for a pointer", ".func _Z1fPi (.param .f64 a)", "has a .f64 as parameter 1, but its name says int*"},
		{"half of a pointer", ".func _Z1fPi (.param .b32 a)", "has a .b32 as parameter 1, but its name says int*"},
		{"only a result of a class", ".func _Z4makev (.param .b64 r)", ""},
		{"none", ".func _Z1fv (.param .b32 a)", "has 1 parameter here, but its name says 0"},
		{"a float for a template argument", ".func _Z1fIiEvT_ (.param .f32 a)", "has a .f32 as parameter 1, but its name says int"},
		{"a float for a constant", ".func _Z1fIKiEvT_ (.param .f32 a)", "has a .f32 as parameter 1, but its name says int const"},
		{"__grid_constant__ of another size", ".entry _Z1gi (.param .align 8 .b8 a[8])", "has 8 bytes aligned to 8 as parameter 1, but its name says int"},
		{"the longest name", ".func _Z" + long(diag.MaxMangled) + " (.param .f32 a)", "has a .f32 as parameter 1, but its name says int"},

		{"a name that is longer", ".func _Z" + long(diag.MaxMangled+1) + " (.param .f32 a)", ""},
		{"this", ".func _ZN1A1fEf (.param .b64 this, .param .f32 x)", ""},
		{"a static member", ".func _ZN1A1fEf (.param .f32 x)", ""},
		{"a constant member", ".func _ZNK1A1fEf (.param .b64 this, .param .f32 x)", ""},
		{"result of a class with a copy constructor (nvcc, clang)", ".func _Z4makei (.param .b64 r, .param .b32 x)", ""},
		{"the same of a member", ".func _ZNK1A4makeEi (.param .b64 r, .param .b64 this, .param .b32 x)", ""},
		{"the same of a member that is not const", ".func _ZN1A4makeEi (.param .b64 r, .param .b64 this, .param .b32 x)", ""},
		{"a class, empty or not", ".func _Z1f3Tagi (.param .b32 x)", ""},
		{"a class in two registers", ".func _Z1f3Tagi (.param .b64 t, .param .b64 u, .param .b32 x)", ""},
		{"a pack of three", ".entry _Z1kIfJKiKfS1_fEEvPT_iDpPT0_ (.param .u64 a, .param .u32 b, .param .u64 c, .param .u64 d, .param .u64 e, .param .u64 f)", ""},
		{"an empty pack", ".entry _Z1kIfJEEvPT_iDpPT0_ (.param .u64 a, .param .u32 b)", ""},
		{"a pack of references", ".entry _Z2k3IfJifEEvPT_iDpRKT0_ (.param .u64 a, .param .u32 b, .param .u64 c, .param .u64 d)", ""},
		{"__grid_constant__ int and pointer", ".entry _Z1giPi (.param .align 4 .b8 a[4], .param .align 8 .b8 b[8])", ""},
		{"__grid_constant__ of a template", ".entry _Z1kIiEvT_iPS0_ (.param .align 4 .b8 a[4], .param .align 4 .b8 b[4], .param .u64 c)", ""},
		{"__grid_constant__ long and pointer of another size", ".entry _Z1glPi (.param .align 8 .b8 a[8], .param .align 4 .b8 b[4])", "has 4 bytes aligned to 4 as parameter 2, but its name says int*"},
		{"__grid_constant__ long of another size", ".entry _Z1gl (.param .align 8 .b8 a[16])", "has 16 bytes aligned to 8 as parameter 1, but its name says long"},
		{"__grid_constant__ long, size_t and wchar_t", ".entry _Z1glmwPi (.param .align 8 .b8 a[8], .param .align 8 .b8 b[8], .param .align 4 .b8 c[4], .param .u64 d)", ""},
		{"__grid_constant__ long and wchar_t of Windows", ".entry _Z1glw (.param .align 4 .b8 a[4], .param .align 2 .b8 b[2])", ""},
		{"__grid_constant__ double and char", ".entry _Z1gdc (.param .align 8 .b8 a[8], .param .align 1 .b8 b[1])", ""},
		{"variable arguments (clang)", ".func _Z1fiz (.param .b32 a, .param .align 8 .b8 b[])", ""},
		{"variable arguments left out", ".func _Z1fiz (.param .b32 a)", ""},
		{"constructor with a table", ".func _ZN1AC2Ei (.param .b64 this, .param .b64 vtt, .param .b32 x)", ""},
		{"inheriting constructor", ".func _ZN1BCI21AEi (.param .b64 this)", ""},
		{"conversion", ".func _ZNK1AcviEv (.param .b64 this)", ""},
		{"lambda", ".func _ZZ1fiENKUlfE_clEf (.param .b64 this, .param .f32 x)", ""},
		{"generic lambda", ".func _ZZ1fiENKUlT_E_clIiEEDaS_ (.param .b64 this, .param .b32 x)", ""},
		{"lambda in a function with enable_if (nvcc)", ".entry _ZN3lib6launchILi256EZNS_3runILi256EiZ4initvEUliE_vEENSt9enable_ifIXsr3lib3mayIT1_vEE5valueEvE4typeERKNS_3Gpu4InfoET0_RKS4_EUlvE_EEvSB_ (.param .align 4 .b8 f[12])", ""},
		{"ABI tag", ".func _Z1fB5cxx11i (.param .b32 x)", ""},
		{"decltype(auto)", ".func _Z1fIiEDcT_ (.param .b32 x)", ""},
		{"decltype of a parameter", ".func _Z1fIiEvDTplfp_Li1EET_ (.param .b32 x, .param .b32 y)", ""},
		{"nullptr", ".func _Z1fDn (.param .b64 x)", ""},
		{"__int128", ".func _Z1fn (.param .align 16 .b8 x[16])", ""},
		{"__int128 in two", ".func _Z1fo (.param .b64 x, .param .b64 y)", ""},
		{"vector", ".func _Z1fDv4_f (.param .align 16 .b8 x[16])", ""},
		{"_Float16", ".func _Z1fDF16_ (.param .b32 x)", ""},
		{"__half", ".func _Z1f6__half (.param .align 2 .b8 x[2])", ""},
		{"complex", ".func _Z1fCf (.param .align 4 .b8 x[8])", ""},
		{"function pointer", ".func _Z1fPFiiE (.param .b64 x)", ""},
		{"pointer to member function", ".func _Z1fM1AFivE (.param .align 8 .b8 x[16])", ""},
		{"pointer to member", ".func _Z1fM1Ai (.param .b64 x)", ""},
		{"reference to array", ".func _Z1fRA4_i (.param .b64 x)", ""},
		{"pointer to shared memory in 32 bits", ".func _Z1fPU3AS3i (.param .b32 x)", ""},
		{"small integers", ".func _Z1fbcs (.param .b32 a, .param .b32 b, .param .b32 c)", ""},
		{"small integers of a kernel", ".entry _Z1fbcs (.param .u8 a, .param .u8 b, .param .u16 c)", ""},
		{"long where it has four bytes", ".func _Z1fl (.param .b32 x)", ""},
		{"enumeration", ".func _Z1f5Color (.param .b32 x)", ""},
		{"block of a template argument", ".func _Z1fI1AEvNT_4typeE (.param .b32 x, .param .b32 y)", ""},
		{"Numba array", ".entry _ZN8__main__1kB2v1E5ArrayIfLi1E1A7mutable7alignedE (.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e, .param .u64 f, .param .u64 g)", ""},
		{"Numba device function", ".func (.param .b32 r) _ZN8__main__1fB2v1Edi (.param .b64 ret, .param .b64 x, .param .b32 y)", ""},
		{"Julia kernel", ".entry _Z4vaddxf (.param .align 8 .b8 state[16], .param .u64 x, .param .f32 y)", ""},
		{"explicit object", ".func _ZNH1A1fES_i (.param .align 4 .b8 self[4], .param .b32 x)", ""},
		{"Rust legacy", ".func _ZN4core3fmt5write17h0123456789abcdefE (.param .b64 a, .param .b64 b)", ""},
		{"Rust v0", ".func _RNvC5crate4addi (.param .b64 a)", ""},
		{"gcc clone", ".func _Z1fi$constprop$0 ()", ""},
		{"clang clone", ".func _Z1fi_omp_outlined (.param .b64 a, .param .b64 b, .param .b32 c)", ""},
		{"nvc kernel", ".entry _Z6vecaddPfS_S_i_12_gpu (.param .u64 a)", ""},
		{"gcc OpenMP", ".entry _Z3fooPfi$_omp_fn$0 (.param .u64 a)", ""},
		{"OpenMP kernel", ".entry __omp_offloading_10_20__Z3fooi_l12 (.param .u64 a)", ""},
		{"thunk", ".func _ZThn8_N1B1fEi (.param .b64 this, .param .b32 x)", ""},
		{"no mangled name", ".func _Zoom (.param .b64 x)", ""},
	} {
		m, err := ptx.Parse(&diag.Source{Text: []byte(".version 7.8 .target sm_75 .address_size 64 .visible " + test.text + " { ret; }")})
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		d := &m.Decls[0]
		if got := cxxDifference(m.Names[d.Name], d, m.AddressSize); got != test.want {
			t.Errorf("%s: %s: %q, want %q", test.what, test.text, got, test.want)
		}
		if got := cxxDifference(m.Names[d.Name], d, 0); test.what == "half of a pointer" && got != "" {
			t.Errorf("%s: %q, of a module without .address_size", test.text, got)
		}
	}
}

// long returns the rest of a mangled name of n bytes: a function of an int.
func long(n int) string {
	letters := n - len("_Zi")
	digits := len(strconv.Itoa(letters))
	return strconv.Itoa(letters-digits) + strings.Repeat("a", letters-digits) + "i"
}
