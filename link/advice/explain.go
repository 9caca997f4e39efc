package advice

import (
	"slices"
	"strings"

	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// withRuntime is how to link libcudadevrt.
const withRuntime = "ptxlink FILE... -LDIR -lcudadevrt --arch=sm_80 -o out.cubin links it (docs/libraries.md)"

// explanations tell why a well-known symbol is missing, by prefixes of its name; the first
// match counts, and NAME is the name in the source. PTX Interoperability 7 lists what device code
// does not have. Variables of programs may have such names, because C++ does not mangle the names
// of variables.
var explanations = []struct{ prefixes, text string }{
	{"__cxa_guard_ _ZGV", "this guards the initialisation of a static variable inside a function, which device code does not have (PTX Interoperability 7); initialise it with a constant"},
	{"__cxa_atexit", "this registers a global destructor, which device code does not have (PTX Interoperability 7)"},
	{"_GLOBAL__", "this is a global constructor, which device code does not have (PTX Interoperability 7); initialise the object with a constant"},
	{"__cxa_pure_virtual", "this is called in place of a pure virtual function; define it: extern \"C\" __device__ void __cxa_pure_virtual() { __trap(); }"},
	{"__cxa_ __gxx_personality_ _Unwind_", "this is part of C++ exceptions, which device code does not have (PTX Interoperability 7); compile with -fno-exceptions"},
	{"__dynamic_cast _ZTVN10__cxxabiv1 _ZTI _ZTS", "this is part of RTTI, which device code does not have (PTX Interoperability 7); compile with -fno-rtti"},
	{"_ZTV", "this is a virtual table; it is defined in the module that defines the first virtual function of the class, and the device cannot use one of the host (PTX Interoperability 7)"},
	{"_ZTT", "this is a table of virtual tables; it is defined in the module that defines the first virtual function of the class"},
	{"_Znw", "this is operator new; nvcc turns it into malloc, and so does clang if the source includes <new>; other modules must define it"},
	{"_Zna", "this is operator new[]; nvcc turns it into malloc, and so does clang if the source includes <new>; other modules must define it"},
	{"_Zdl", "this is operator delete; nvcc turns it into free, and so does clang if the source includes <new>; other modules must define it"},
	{"_Zda", "this is operator delete[]; nvcc turns it into free, and so does clang if the source includes <new>; other modules must define it"},
	{"_ZNSt _ZNKSt _ZSt", "this is part of the C++ standard library, which device code does not have (PTX Interoperability 7)"},
	{ptx.OptiXPrefix, "OptiX defines this while it compiles the linked PTX"},
	{"__nv_", "this is a libdevice function; ptxlink libdevice creates libdevice.a from your CUDA toolkit, and ptxlink FILE... -L. -ldevice links it"},
	{"__cudaCDP2GetParameterBuffer __cudaCDP2LaunchDevice", "kernels that launch kernels need libcudadevrt; " + withRuntime},
	{"__cudaCDP2 __cudaDeviceSynchronizeDeprecationAvoidance", "this is NAME() in device code, which libcudadevrt defines; " + withRuntime},
	{"__cuda", "this is part of the CUDA device runtime, libcudadevrt; " + withRuntime},
	{"GOMP_ GOACC_ __nvptx_", "this is part of gcc's runtime of OpenMP and OpenACC; link gcc's libgomp.a, libc.a and libgcc.a (docs/from-gcc.md)"},
	{"__atomic_", "gcc's libatomic.a defines this (docs/from-gcc.md)"},
	{"__kmpc_", "this is part of the OpenMP runtime of LLVM; compile to bitcode (clang -emit-llvm -c), and link libompdevice.a of that clang (libomptarget.devicertl.a in older ones)"},
	{"omp_", "this is a function of the OpenMP runtime; link that of the compiler: libompdevice.a of clang and flang (libomptarget.devicertl.a in older ones), or gcc's libgomp.a (docs/from-gcc.md)"},
	{"_FortranA", "this is part of flang's runtime, of which device code needs libflang_rt.runtime.a for nvptx64-nvidia-cuda"},
	{"_gfortran_st_ _gfortran_transfer_", "this is input or output of Fortran, which gcc's libgfortran.a for nvptx-none does not have (gcc 12 and 14); leave it to the host"},
	{"_gfortran_", "gcc's libgfortran.a for nvptx-none defines this (docs/from-gcc.md)"},
}

// stdio holds the C functions that device code does not have. It has only printf,
// as vprintf.
const stdio = "printf puts putchar fprintf fputs fputc fwrite fread fopen fclose fflush fscanf scanf sprintf snprintf vsnprintf"

// memory holds the functions of C that compilers call for assignments and comparisons.
const memory = "memcpy memmove memset memcmp"

// inRuntime returns the name that the CUDA device runtime gives a function in the source: cudaFree for __cudaCDP2Free. Those
// with _ptsz use the default stream of the thread.
func inRuntime(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_ptsz"), "DeprecationAvoidance")
	return "cuda" + strings.TrimPrefix(strings.TrimPrefix(name, "__cuda"), "CDP2")
}

// Explain returns the likely reason why a function or a variable is missing, or "" if the
// name is not well known.
func Explain(name string, kind ptx.DeclKind) string {
	if kind == ptx.Variable && !strings.HasPrefix(name, "_") {
		return ""
	}
	if slices.Contains(strings.Fields(stdio), name) {
		return "printf is the only stdio function in device code; nvcc and clang turn it into vprintf (PTX Interoperability 3 and 7); gcc's libc.a defines the others"
	}
	if slices.Contains(strings.Fields(memory), name) {
		return "compilers call this function of C; gcc's libc.a defines it (docs/from-gcc.md), and so does compiler_builtins of Rust"
	}
	if resolve.InDeviceRuntime(name) {
		return "this is a function of the CUDA device runtime, libcudadevrt; " + withRuntime
	}
	for _, e := range explanations {
		for prefix := range strings.FieldsSeq(e.prefixes) {
			if strings.HasPrefix(name, prefix) {
				return strings.Replace(e.text, "NAME", inRuntime(name), 1)
			}
		}
	}
	return ""
}
