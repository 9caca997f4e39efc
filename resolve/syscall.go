package resolve

import "strings"

// syscalls are the functions that the driver supplies: ptxas accepts them as
// undefined in a whole program (PTX Interoperability 3; the rest was found by
// asking ptxas 12.4 for every name it contains).
var syscalls = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`
		vprintf vfprintf malloc free __assertfail __profile
		cnpCtxSynchronize cnpDeviceGetAttribute cnpDeviceGetName cnpDeviceGetTotalMem
		cnpEventCreate cnpEventDestroy cnpEventRecord cnpFuncGetAttribute
		cnpGetCacheConfig cnpGetDevice cnpGetDeviceCount cnpGetLastError cnpGetLimit
		cnpGetParameterBuffer cnpGetParameterBufferV2 cnpGetSharedMemConfig
		cnpLaunchDevice cnpLaunchDeviceV2 cnpSetLastError
		cnpStreamCreate cnpStreamDestroy cnpStreamWaitEvent
		cudaGraphKernelNodeSetEnabled cudaGraphKernelNodeSetGridDim
		cudaGraphKernelNodeSetParam cudaGraphKernelNodeUpdatesApply
		cudaGraphLaunch cudaGraphSetConditional`) {
		syscalls[name] = true
	}
}

// IsSyscall says whether the driver supplies the function, so that it may stay
// undefined.
func IsSyscall(name string) bool {
	return syscalls[name] || strings.HasPrefix(name, "__cuda_syscall")
}
