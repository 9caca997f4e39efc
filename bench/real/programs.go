package main

import (
	"cmp"
)

// A program is relocatable device code that other people wrote. Its sources lie in
// a directory of their own, as their repository or wheel has them.
type program struct {
	name    string
	dir     string   // below DIR
	prepare string   // shell command, run there before the first compilation
	units   []string // globs below dir, of what nvcc compiles
	without []string // base names that the globs match too
	flags   []string // for nvcc, beside those of every unit
	libs    []string // archives below DIR
	cuda    []string // releases that can compile it; nil: all
	sm      string   // the GPU, if not 80
	why     string   // where the contents differ, as the cubins show
	hosts   bool     // kernels launch kernels: only nvcc and CMake link libcudadevrt
}

// gpu returns the GPU as compute_ or sm_ want it.
func (p program) gpu() string { return cmp.Or(p.sm, "80") }

const samples = "cuda-samples/Samples/3_CUDA_Features/"

// programs are the recipes. DIR holds cuda-samples (github.com/NVIDIA/cuda-samples),
// Quicksilver (github.com/LLNL/Quicksilver), nccl (github.com/NVIDIA/nccl), Gpufit
// (github.com/gpufit/Gpufit), kokkos (github.com/kokkos/kokkos), nvshmem/examples
// (github.com/NVIDIA/nvshmem), phantom-fhe (github.com/encryptorion-lab/phantom-fhe),
// nvshmem-wheel (nvidia-nvshmem-cu12 of PyPI, unpacked) and include (the include
// directories of nvidia-cuda-cccl-cu12 and nvidia-curand-cu12).
var programs = []program{
	{name: "Quicksilver", dir: "Quicksilver/src",
		prepare: `printf '#define GIT_VERS "0"\n' >git_vers.hh; printf '#define GIT_HASH "0"\n' >git_hash.hh`,
		units:   []string{"*.cc"}, without: []string{"PhysicalConstants.cc"},
		flags: []string{"-std=c++14", "-DHAVE_CUDA"}},
	{name: "NCCL", dir: "nccl/src/device",
		prepare: `mkdir -p ../../build/include
ln -sfn ../../src/transport/net_ib/gdaki/doca-gpunetio/include ../../build/include/doca_gpunetio
NCCL_USE_CMAKE=1 python3 generate.py ../../build/gensrc 'AllReduce Sum f32 * *|AllGather * *|SendRecv|Broadcast * *|ReduceScatter Sum f32 * *|Reduce Sum f32 * *' >/dev/null
sed 's/${nccl:Major}/2/; s/${nccl:Minor}/30/; s/${nccl:Patch}/0/; s/${nccl:Suffix}//; s/${nccl:Version}/23000/' ../nccl.h.in >../../build/include/nccl.h`,
		units: []string{"../../build/gensrc/*.cu", "common.cu", "onerank.cu"},
		flags: []string{"-std=c++17", "-DNCCL_OS_LINUX", "-I.", "-I..", "-I../../build/include", "-I../../build/include/doca_gpunetio", "-I../include", "-I../include/plugin",
			"--expt-extended-lambda", "-maxrregcount=96"},
		why: "nvlink drops eight kernels that no host code of the objects launches, as in Gpufit. So does ptxlink in nvlink's place. CMake's device link has libcudart_static among its inputs, which does not record what it launches, so nvlink and ptxlink keep all kernels there."},
	{name: "Gpufit", dir: "Gpufit/Gpufit", units: []string{"*.cu"}, flags: []string{"-std=c++14", "-I."},
		why: "nvlink drops a kernel that no host code of the objects launches: sections of the objects (`.nvHRKE`, `.nvHRKI`) name those that are launched. ptxlink does so in nvlink's place, and keeps all kernels elsewhere."},
	{name: "Kokkos virtual_functions", dir: "kokkos",
		prepare: `mkdir -p build && cat >build/KokkosCore_config.h <<END
#define KOKKOS_VERSION 40699
#define KOKKOS_VERSION_MAJOR 4
#define KOKKOS_VERSION_MINOR 6
#define KOKKOS_VERSION_PATCH 99
#define KOKKOS_ENABLE_SERIAL
#define KOKKOS_ENABLE_CUDA
#define KOKKOS_ENABLE_CUDA_RELOCATABLE_DEVICE_CODE
#define KOKKOS_ENABLE_CUDA_LAMBDA
#define KOKKOS_ENABLE_CXX17
#define KOKKOS_ENABLE_COMPLEX_ALIGN
#define KOKKOS_ARCH_AMPERE80
#define KOKKOS_ARCH_AMPERE
#define KOKKOS_ENABLE_IMPL_CUDA_MALLOC_ASYNC
#define KOKKOS_ENABLE_IMPL_MDSPAN
END
printf '#include <fwd/Kokkos_Fwd_SERIAL.hpp>\n#include <fwd/Kokkos_Fwd_CUDA.hpp>\n' >build/KokkosCore_Config_FwdBackend.hpp
printf '#include <setup/Kokkos_Setup_Cuda.hpp>\n' >build/KokkosCore_Config_SetupBackend.hpp
printf '#include <decl/Kokkos_Declare_SERIAL.hpp>\n#include <decl/Kokkos_Declare_CUDA.hpp>\n' >build/KokkosCore_Config_DeclareBackend.hpp
printf '' >build/KokkosCore_Config_PostInclude.hpp
mkdir -p build/desul/atomics
printf '#define DESUL_ATOMICS_ENABLE_CUDA\n#define DESUL_ATOMICS_ENABLE_CUDA_SEPARABLE_COMPILATION\n' >build/desul/atomics/Config.hpp`,
		units: []string{"core/src/Cuda/*.cpp", "core/src/impl/*.cpp", "tpls/desul/src/*CUDA.cpp", "example/virtual_functions/*.cpp"},
		flags: []string{"-std=c++17", "--extended-lambda", "--expt-relaxed-constexpr", "-Ibuild", "-Icore/src", "-Itpls/desul/include", "-Itpls/mdspan/include", "-Iexample/virtual_functions"},
		why:   "The three variables are tables of virtual functions. Whole-program ptxas writes numbers of functions into them; `ptxas -c` writes zeros with relocations."},
	{name: "NVSHMEM ring-reduce", dir: "nvshmem/examples", units: []string{"ring-reduce.cu"},
		flags: []string{"-std=c++17", "-I../../nvshmem-wheel/nvidia/nvshmem/include"},
		libs:  []string{"nvshmem-wheel/nvidia/nvshmem/lib/libnvshmem_device.a"}, cuda: []string{"12.4"}, sm: "90"},
	{name: "phantom-fhe", dir: "phantom-fhe", units: []string{"src/*.cu", "src/ntt/*.cu"},
		flags: []string{"-std=c++17", "--default-stream=per-thread", "-DPHANTOM_USE_CUDA_PTX", "-Iinclude"},
		why:   "nvlink drops eleven kernels that no host code of the objects launches, as in NCCL. For static constants that no code reads, nvlink keeps the bytes of the first unit only, but the symbols of all units: 95 symbols are beyond the end of the section. ptxlink keeps all the bytes."},
	sample("cdpAdvancedQuicksort"), sample("cdpQuadtree"), sample("cdpSimpleQuicksort"), sample("cdpBezierTessellation"),
}

func sample(name string) program {
	return program{name: name, dir: samples + name, units: []string{"*.cu"}, flags: []string{"-std=c++17", "-I../../../Common"}, cuda: []string{"13.5"}, hosts: true}
}
