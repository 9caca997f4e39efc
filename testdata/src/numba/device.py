"""device.py OUT [--debug]: writes the PTX of each function to OUT/NAME.ptx, without a GPU."""
import sys

from numba import cuda, float32, int32, types, void


def blend(a, b, t):
    return a + (b - a) * t


def both(a, b):
    if b == 0:
        print("zero", a)
    return a // b, a % b


scale = cuda.declare_device("scale", "float32(float32)", abi="c")


def apply(x, out):
    i = cuda.grid(1)
    tile = cuda.shared.array(128, float32)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    out[i] = scale(tile[127 - cuda.threadIdx.x])


lines = dict(debug=True, opt=False) if "--debug" in sys.argv else dict(lineinfo=True)


def write(name, function, signature, **options):
    ptx, _ = cuda.compile(function, signature, cc=(8, 0), **lines, **options)
    with open(f"{sys.argv[1]}/{name}.ptx", "w") as f:
        f.write(ptx)


# A function for C++ to call, one by Numba's own convention, and a kernel.
write("blend", blend, float32(float32, float32, float32), device=True, abi="c", abi_info={"abi_name": "blend"})
write("both", both, types.UniTuple(int32, 2)(int32, int32), device=True, abi="numba")
write("apply", apply, void(float32[::1], float32[::1]), device=False, abi="numba")
