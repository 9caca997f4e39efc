"""Module extension for an installed ptxlink. WORKSPACE uses host.bzl directly."""

load("//ptx:host.bzl", "ptxlink_host")

def _ptxlink_impl(ctx):
    programs = {}
    for module in ctx.modules:
        for host in module.tags.host:
            if module.is_root:
                programs = {
                    "clang": host.clang,
                    "nvcc": host.nvcc,
                    "nvlink": host.nvlink,
                    "ptxas": host.ptxas,
                }
    ptxlink_host(name = "ptxlink", **programs)

_host = tag_class(
    doc = "Settings for the machine. Only those of the root module count.",
    attrs = {
        "clang": attr.string(
            doc = "Path of the clang for ptx_compile. If empty, that on PATH.",
        ),
        "nvcc": attr.string(
            doc = "Path of the nvcc for ptx_compile. If empty, that of $CUDA_HOME, $CUDA_PATH or PATH.",
        ),
        "nvlink": attr.string(
            doc = "Path of the nvlink that joins partitions. If empty, that beside ptxas.",
        ),
        "ptxas": attr.string(
            doc = "Path of the ptxas for links to a cubin. If empty, ptxlink searches for it when it runs.",
        ),
    },
)

ptxlink = module_extension(
    implementation = _ptxlink_impl,
    doc = "Creates the repository ptxlink with the target :toolchain.",
    tag_classes = {"host": _host},
)
