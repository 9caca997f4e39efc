package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/bench/machine"
)

// hosts links the program with nvcc and with CMake, in a toolkit in which nvlink is
// ptxlink.
func (b *bench) hosts(dir string, r *result, inputs []string) {
	nvcc := filepath.Join(b.toolkit, "bin", "nvcc")
	env := []string{"PATH=" + filepath.Join(b.toolkit, "bin") + ":" + os.Getenv("PATH")}
	log.Printf("%s: nvcc -dlink", r.name)
	out := filepath.Join(dir, "dlink.o")
	_, cpu, err := machine.Run(dir, env, b.limit, nvcc, slices.Concat([]string{"-ccbin", "g++-12", "-dlink", "-gencode", "arch=compute_" + r.gpu() + ",code=sm_" + r.gpu(),
		"-L" + filepath.Join(b.toolkit, "lib")}, inputs, []string{"-o", out})...)
	b.extract(way{name: "nvcc -dlink", cpu: cpu, err: err}, dir, out, r)
	for _, generator := range []string{"Ninja", "Unix Makefiles"} {
		log.Printf("%s: CMake, %s", r.name, generator)
		build := filepath.Join(dir, "cmake")
		err := b.cmake(r.program, build, env, generator, nvcc, inputs)
		b.extract(way{name: "CMake, " + generator, err: err}, dir, filepath.Join(build, "build/CMakeFiles/app.dir/cmake_device_link.o"), r)
	}
}

// cmake lets CMake's CUDA language do the device link of a static library.
func (b *bench) cmake(p program, build string, env []string, generator, nvcc string, inputs []string) error {
	os.RemoveAll(build)
	machine.Check(os.MkdirAll(build, 0o777))
	var archives []string
	objects := inputs
	for i, in := range inputs {
		if strings.HasSuffix(in, ".a") {
			objects, archives = inputs[:i], inputs[i:]
			break
		}
	}
	lists := fmt.Sprintf(`cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES CUDA)
add_library(app STATIC stub.cu %s)
set_source_files_properties(%[1]s PROPERTIES EXTERNAL_OBJECT ON)
set_target_properties(app PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_RESOLVE_DEVICE_SYMBOLS ON CUDA_ARCHITECTURES %s)
target_link_libraries(app PRIVATE %s)
`, strings.Join(objects, " "), p.gpu(), strings.Join(archives, " "))
	machine.Check(os.WriteFile(filepath.Join(build, "CMakeLists.txt"), []byte(lists), 0o666))
	machine.Check(os.WriteFile(filepath.Join(build, "stub.cu"), []byte("void stub() {}\n"), 0o666))
	if _, _, err := machine.Run(build, env, b.limit, "cmake", "-G", generator, "-S", ".", "-B", "build", "-DCMAKE_CUDA_COMPILER="+nvcc,
		"-DCMAKE_CUDA_HOST_COMPILER=g++-12"); err != nil {
		return err
	}
	_, _, err := machine.Run(build, env, b.limit, "cmake", "--build", "build", "-v")
	return err
}

// extract adds a way to a result, with what the cubin in the object of a device link holds.
func (b *bench) extract(w way, dir, object string, r *result) {
	if w.err == nil {
		for _, old := range cubins(dir) {
			os.Remove(old)
		}
		_, _, w.err = machine.Run(dir, nil, b.limit, b.tools["cuobjdump"], "-xelf", "all", object)
	}
	found := cubins(dir)
	if w.err == nil && len(found) != 1 {
		w.err = fmt.Errorf("%s holds %d cubins", object, len(found))
	}
	b.look(w, strings.Join(found, ""), r)
}

func cubins(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "*dlink*.sm_*.cubin"))
	more, _ := filepath.Glob(filepath.Join(dir, "cmake_device_link*.cubin"))
	return slices.Concat(list, more)
}
