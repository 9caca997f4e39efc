"""kernels.py OUT: writes the PTX of each kernel to OUT/NAME.ptx, without a GPU."""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource
from triton.language import core


@core.extern
def scale(x, _semantic=None):
    # A call of the .func scale, which another module defines.
    return core.extern_elementwise("", "", [x], {(core.dtype("fp32"),): ("scale", core.dtype("fp32"))},
                                   is_pure=True, _semantic=_semantic)


@triton.jit(noinline=True)
def half(x):
    return x * 0.5


@triton.jit
def total(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out, half(tl.sum(scale(tl.load(x + i)), axis=0)))


@triton.jit
def running(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.associative_scan(tl.load(x + i), 0, add)
    tl.device_print("v", v)
    tl.store(out + i, scale(v))


@triton.jit
def add(a, b):
    return half_of(a + b) * 2


@triton.jit
def half_of(a):
    return a * 0.5


# ptxas would refuse the call of scale, which is not linked yet.
CUDABackend.make_cubin = lambda *_: b""


def build(kernel):
    src = ASTSource(fn=kernel, signature={"x": "*fp32", "out": "*fp32", "n": "constexpr"}, constexprs={"n": 256})
    # PTX 8.4, so that ptxas 12.4 takes the result.
    return triton.compile(src, target=GPUTarget("cuda", 80, 32), options={"ptx_version": 84})


if __name__ == "__main__":
    for kernel in total, running:
        with open(f"{sys.argv[1]}/{kernel.__name__}.ptx", "w") as f:
            f.write(build(kernel).asm["ptx"])
