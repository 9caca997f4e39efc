"""ptx_cubin: links modules and libraries into a cubin, in parts that are assembled in parallel."""

load("//ptx:info.bzl", "PtxInfo", "ptx_info")
load("//ptx:link.bzl", "run_link")
load("//ptx:toolchain.bzl", "TOOLCHAIN_TYPE", "add_programs", "quoted", "response_file", "run_ptxlink")

def _ptx_cubin_impl(ctx):
    parts = ctx.attr.partitions
    if parts < 1 or parts > 1024:
        fail("%d is not a number from 1 to 1024" % parts, attr = "partitions")
    info = ptx_info(ctx, ctx.files.srcs, ctx.attr.deps)
    out = ctx.outputs.out or ctx.actions.declare_file(ctx.label.name + ".cubin")
    options = ["--arch=" + ctx.attr.arch]
    if ctx.attr.opt:
        options.append("-O%d" % ctx.attr.opt)
    if parts == 1:
        run_link(ctx, info, out, options = options + ["-Xptxas=" + opt for opt in ctx.attr.ptxasopts])
    else:
        _partitioned(ctx, info, out, options)
    return [DefaultInfo(files = depset([out]))]

def _partitioned(ctx, info, out, options):
    toolchain = ctx.toolchains[TOOLCHAIN_TYPE]
    if not toolchain.nvlink:
        fail("nvlink joins partitions, but the toolchain has none; set nvlink in ptx_toolchain, or ptxas or nvlink in ptxlink_host_toolchain", attr = "partitions")

    # The number of outputs must be known before the link. Parts that the program does
    # not need are empty modules.
    prefix = "_%s/" % ctx.label.name
    linked = ctx.actions.declare_file(prefix + "linked.ptx")
    parts = [ctx.actions.declare_file("%spart%d.ptx" % (prefix, i)) for i in range(ctx.attr.partitions)]
    pattern = parts[0].path[:-len("0.ptx")]
    run_link(
        ctx,
        info,
        linked,
        options = options + ["--partition=%d" % len(parts), "--emit-parts=%s%%d.ptx" % pattern],
        outputs = parts,
    )
    cubins = [_assemble(ctx, toolchain, part, out) for part in parts]
    args = ctx.actions.args()
    args.add("-arch=" + ctx.attr.arch)
    args.add_all(cubins)
    args.add("-o", out)
    ctx.actions.run(
        executable = toolchain.nvlink,
        tools = toolchain.tools,
        arguments = [args],
        inputs = cubins,
        outputs = [out],
        use_default_shell_env = True,
        mnemonic = "PtxJoin",
        progress_message = "Joining %s" % out.short_path,
    )

def _assemble(ctx, toolchain, part, out):
    # ptxlink adds -lineinfo where the part has lines, and reports errors with places.
    cubin = ctx.actions.declare_file(part.basename[:-len("ptx")] + "cubin", sibling = part)
    args = response_file(ctx)
    args.add("-c")
    args.add("-r")
    args.add_all([cubin], map_each = quoted, before_each = "-o")
    args.add_all([ctx.attr.arch], map_each = quoted, format_each = "--arch=%s")
    add_programs(args, toolchain)
    args.add_all(ctx.attr.ptxasopts, map_each = quoted, format_each = "-Xptxas=%s")
    args.add("--")
    args.add_all([part], map_each = quoted)
    run_ptxlink(
        ctx,
        arguments = [args],
        inputs = [part],
        outputs = [cubin],
        mnemonic = "PtxAssemble",
        progress_message = "Assembling %s of %s" % (part.basename, out.short_path),
    )
    return cubin

ptx_cubin = rule(
    implementation = _ptx_cubin_impl,
    doc = """Links sources and libraries into a cubin.

With partitions = K, one action links and cuts the linked module into K parts, K actions assemble them with
ptxas -c, in parallel and perhaps on other machines, and one joins their cubins with nvlink.""",
    attrs = {
        "arch": attr.string(
            doc = "The GPU: sm_80.",
            mandatory = True,
        ),
        "deps": attr.label_list(
            doc = "ptx_compile, ptx_library and ptx_archive targets.",
            providers = [PtxInfo],
        ),
        "linkopts": attr.string_list(
            doc = "Options of ptxlink, placed before the inputs; see ptx_link.",
        ),
        "map": attr.output(
            doc = "Write a map of inputs, symbols and sizes to this file.",
        ),
        "opt": attr.int(
            doc = "The level of ptxlink -O: 0, 1 or 2.",
            values = [0, 1, 2],
        ),
        "out": attr.output(
            doc = "The output; NAME.cubin by default.",
        ),
        "partitions": attr.int(
            doc = "Number of actions that assemble. More than one needs nvlink in the toolchain. A module with DWARF cannot be cut.",
            default = 1,
        ),
        "ptxasopts": attr.string_list(
            doc = "Options of ptxas: -O2, -maxrregcount=64.",
        ),
        "srcs": attr.label_list(
            doc = "Files to link; see ptx_library.",
            allow_files = True,
        ),
    },
    toolchains = [TOOLCHAIN_TYPE],
)
