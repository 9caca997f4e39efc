"""ptx_library: modules and libraries that are there already."""

load("//ptx:info.bzl", "PtxInfo", "ptx_info")
load("//ptx:toolchain.bzl", "TOOLCHAIN_TYPE")

def _ptx_library_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.srcs)),
        ptx_info(ctx, ctx.files.srcs, ctx.attr.deps),
    ]

ptx_library = rule(
    implementation = _ptx_library_impl,
    doc = """Files for a link, and what they need.

Nothing is run for PTX text. A .ptx is linked whether something needs it or not; of an archive (.a) the
members that something needs.""",
    attrs = {
        "deps": attr.label_list(
            doc = "ptx_library and ptx_archive targets that the sources call.",
            providers = [PtxInfo],
        ),
        "srcs": attr.label_list(
            doc = "PTX, and what ptxlink finds PTX in: archives, fatbins, host objects, compressed or not.",
            allow_files = True,
        ),
    },
    provides = [PtxInfo],
    toolchains = [TOOLCHAIN_TYPE],
)
