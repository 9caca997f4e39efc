"""The provider that the rules exchange."""

load("//ptx:toolchain.bzl", "quoted", "response_file", "run_ptxlink")

PtxInfo = provider(
    doc = "Inputs of a link: modules and libraries, those of a target before those of its deps.",
    fields = {
        "headers": "depset of File: the hdrs of a ptx_compile and of its deps. May be missing",
        "inputs": "depset of File, in link order: PTX, archives, fatbins, host objects",
        "needs": "the same of the deps alone, for a target that packs or links the files itself. May be missing",
        "symbols": "depset of File: for each input that may be an archive, the list of its symbols",
    },
)

def ptx_info(ctx, direct, deps, headers = []):
    """Creates the PtxInfo of a target and the actions that list symbols.

    Args:
      ctx: the rule's context.
      direct: list of File, the target's own inputs.
      deps: list of Target with a PtxInfo.
      headers: list of File, the target's own headers.

    Returns:
      A PtxInfo.
    """
    symbols = [
        _list_symbols(ctx, file, i)
        for i, file in enumerate(direct)
        if file.extension != "ptx"
    ]

    # The files of a source are among direct; what they need is not.
    srcs = [src[PtxInfo] for src in ctx.attr.srcs if PtxInfo in src]
    infos = [dep[PtxInfo] for dep in deps]
    needs = depset(
        transitive = [info.needs for info in srcs if hasattr(info, "needs")] + [info.inputs for info in infos],
        order = "topological",
    )
    return PtxInfo(
        headers = depset(headers, transitive = [info.headers for info in srcs + infos if hasattr(info, "headers")]),
        inputs = depset(direct, transitive = [needs], order = "topological"),
        needs = needs,
        symbols = depset(symbols, transitive = [info.symbols for info in srcs + infos]),
    )

def _list_symbols(ctx, file, i):
    # An unused archive can change the link only if it defines other names, or
    # defines them with another linkage. This list is an input of the link that is
    # always used, so unused_inputs_list may contain the archive.
    out = ctx.actions.declare_file("_%s/%d_%s.symbols" % (ctx.label.name, i, file.basename))
    args = response_file(ctx)
    args.add("-gU")
    args.add_all([out], map_each = quoted, format_each = "--output=%s")
    args.add("--")
    args.add_all([file], map_each = quoted)
    run_ptxlink(
        ctx,
        arguments = ["nm", args],
        inputs = [file],
        outputs = [out],
        mnemonic = "PtxSymbols",
        progress_message = "Listing the symbols of %s" % file.short_path,
    )
    return out
