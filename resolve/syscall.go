package resolve

import "strings"

// syscalls holds the functions that the driver provides: ptxas accepts them as
// undefined in a whole program (PTX Interoperability 3; the rest was found by
// testing every name in ptxas 12.4).
var syscalls = setOf(`
	vprintf vfprintf malloc free __assertfail __profile
	cnpCtxSynchronize cnpDeviceGetAttribute cnpDeviceGetName cnpDeviceGetTotalMem
	cnpEventCreate cnpEventDestroy cnpEventRecord cnpFuncGetAttribute
	cnpGetCacheConfig cnpGetDevice cnpGetDeviceCount cnpGetLastError cnpGetLimit
	cnpGetParameterBuffer cnpGetParameterBufferV2 cnpGetSharedMemConfig
	cnpLaunchDevice cnpLaunchDeviceV2 cnpSetLastError
	cnpStreamCreate cnpStreamDestroy cnpStreamWaitEvent
	cudaGraphKernelNodeSetEnabled cudaGraphKernelNodeSetGridDim
	cudaGraphKernelNodeSetParam cudaGraphKernelNodeUpdatesApply
	cudaGraphLaunch cudaGraphSetConditional`)

// IsSyscall reports whether the driver provides the function, so that it may stay
// undefined.
func IsSyscall(name string) bool {
	return syscalls[name] || strings.HasPrefix(name, "__cuda_syscall")
}
