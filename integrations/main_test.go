package integrations_test

import (
	"os"
	"testing"
)

// TestMain hides the user's CUDA toolkit: tests bring the tools that they run.
func TestMain(m *testing.M) {
	for _, name := range []string{
		"CUDA_HOME", "CUDA_PATH", "PTXAS", "NVLINK", "FATBINARY", "PTXLINK_CACHE",
		"CUDACXX", "CUDAARCHS", "CUDAFLAGS", "CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
	} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}
