"""ptx_archive: packs modules into an archive."""

load("//ptx:info.bzl", "PtxInfo", "ptx_info")
load("//ptx:toolchain.bzl", "TOOLCHAIN_TYPE", "quoted", "response_file", "run_ptxlink")

def _ptx_archive_impl(ctx):
    if ctx.attr.compress and ctx.attr.format != "plain":
        fail("compress cannot be combined with format = \"%s\", whose members are already compressed" % ctx.attr.format, attr = "compress")
    out = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    args = response_file(ctx)
    if ctx.attr.format != "plain":
        args.add_all([ctx.attr.format], map_each = quoted, format_each = "--format=%s")
    if ctx.attr.compress:
        args.add("--compress")
    args.add("--")
    args.add_all([out], map_each = quoted)
    args.add_all(ctx.files.srcs, map_each = quoted)
    run_ptxlink(
        ctx,
        arguments = ["ar", args],
        inputs = ctx.files.srcs,
        outputs = [out],
        mnemonic = "PtxArchive",
        progress_message = "Packing %s" % out.short_path,
    )
    return [
        DefaultInfo(files = depset([out])),
        ptx_info(ctx, [out], ctx.attr.deps),
    ]

ptx_archive = rule(
    implementation = _ptx_archive_impl,
    doc = "Packs modules into libNAME.a, from which a link uses the members that it needs.",
    attrs = {
        "compress": attr.bool(
            doc = "Compress the members with zstd.",
        ),
        "deps": attr.label_list(
            doc = "ptx_library and ptx_archive targets that the sources call. They are linked with the archive, not packed into it.",
            providers = [PtxInfo],
        ),
        "format": attr.string(
            doc = "plain: PTX text; nv: host objects with fatbins, which nvlink and nvcc -dlink also accept.",
            default = "plain",
            values = ["plain", "nv"],
        ),
        "srcs": attr.label_list(
            doc = "The members, in archive order.",
            mandatory = True,
            allow_empty = False,
            allow_files = True,
        ),
    },
    provides = [PtxInfo],
    toolchains = [TOOLCHAIN_TYPE],
)
