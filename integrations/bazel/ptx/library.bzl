"""ptx_library: existing modules and libraries."""

load("//ptx:info.bzl", "PtxInfo", "ptx_info")
load("//ptx:toolchain.bzl", "TOOLCHAIN_TYPE")

def _ptx_library_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.srcs)),
        ptx_info(ctx, ctx.files.srcs, ctx.attr.deps),
    ]

ptx_library = rule(
    implementation = _ptx_library_impl,
    doc = """Files for a link and their dependencies.

PTX text needs no action. A .ptx file is always linked; from an archive (.a), only the members that
something needs.""",
    attrs = {
        "deps": attr.label_list(
            doc = "ptx_library and ptx_archive targets that the sources call.",
            providers = [PtxInfo],
        ),
        "srcs": attr.label_list(
            doc = "PTX, or files that contain PTX: archives, fatbins and host objects, compressed or not.",
            allow_files = True,
        ),
    },
    provides = [PtxInfo],
    toolchains = [TOOLCHAIN_TYPE],
)
