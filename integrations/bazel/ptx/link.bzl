"""ptx_link: links modules and libraries into one module or cubin."""

load("//ptx:info.bzl", "PtxInfo", "ptx_info")
load("//ptx:toolchain.bzl", "TOOLCHAIN_TYPE", "add_programs", "quoted", "response_file", "run_ptxlink")

def run_link(ctx, info, out, options = [], outputs = []):
    """Declares the action that links.

    Args:
      ctx: the rule's context. The rule has the attributes linkopts and map.
      info: the PtxInfo of what is linked.
      out: File, the linked module or cubin.
      options: options of ptxlink, before those of linkopts.
      outputs: list of File, other outputs.
    """
    toolchain = ctx.toolchains[TOOLCHAIN_TYPE]
    unused = ctx.actions.declare_file("_%s/unused_inputs" % ctx.label.name)
    outputs = outputs + [out, unused]

    args = response_file(ctx)
    args.add_all([out], map_each = quoted, before_each = "-o")
    args.add_all([unused], map_each = quoted, format_each = "--unused-inputs=%s")
    if ctx.outputs.map:
        outputs.append(ctx.outputs.map)
        args.add_all([ctx.outputs.map], map_each = quoted, format_each = "-Map=%s")
    if out.extension == "cubin":
        add_programs(args, toolchain)
    args.add_all(options, map_each = quoted)
    args.add_all(ctx.attr.linkopts, map_each = quoted)
    args.add("--")
    args.add_all(info.inputs, map_each = quoted)
    run_ptxlink(
        ctx,
        arguments = [args],
        inputs = depset(transitive = [info.inputs, info.symbols]),
        outputs = outputs,
        unused_inputs_list = unused,
        mnemonic = "PtxLink",
        progress_message = "Linking %s" % out.short_path,
    )

def _ptx_link_impl(ctx):
    info = ptx_info(ctx, ctx.files.srcs, ctx.attr.deps)
    out = ctx.outputs.out or ctx.actions.declare_file(ctx.label.name + ".ptx")
    run_link(ctx, info, out)
    return [DefaultInfo(files = depset([out]))]

ptx_link = rule(
    implementation = _ptx_link_impl,
    doc = "Links sources and libraries into one PTX module, or into a cubin with ptxas.",
    attrs = {
        "deps": attr.label_list(
            doc = "ptx_library and ptx_archive targets.",
            providers = [PtxInfo],
        ),
        "linkopts": attr.string_list(
            doc = "Options of ptxlink, placed before the inputs: --whole-archive, -S, --allow-undefined=GLOB, -r.",
        ),
        "map": attr.output(
            doc = "Write a map of inputs, symbols and sizes to this file.",
        ),
        "out": attr.output(
            doc = "The output; NAME.ptx by default. If it ends in .cubin, ptxas assembles it.",
        ),
        "srcs": attr.label_list(
            doc = "Files to link; see ptx_library.",
            allow_files = True,
        ),
    },
    toolchains = [TOOLCHAIN_TYPE],
)
