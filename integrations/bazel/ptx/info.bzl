"""The provider that the rules exchange."""

load("//ptx:toolchain.bzl", "quoted", "response_file", "run_ptxlink")

PtxInfo = provider(
    doc = "Inputs of a link: modules and libraries, those of a target before those of its deps.",
    fields = {
        "inputs": "depset of File, in link order: PTX, archives, fatbins, host objects",
        "symbols": "depset of File: for each input that may be an archive, the list of its symbols",
    },
)

def ptx_info(ctx, direct, deps):
    """Creates the PtxInfo of a target and the actions that list symbols.

    Args:
      ctx: the rule's context.
      direct: list of File, the target's own inputs.
      deps: list of Target with a PtxInfo.

    Returns:
      A PtxInfo.
    """
    symbols = [
        _list_symbols(ctx, file, i)
        for i, file in enumerate(direct)
        if file.extension != "ptx"
    ]
    return PtxInfo(
        inputs = depset(
            direct,
            transitive = [dep[PtxInfo].inputs for dep in deps],
            order = "topological",
        ),
        symbols = depset(
            symbols,
            transitive = [dep[PtxInfo].symbols for dep in deps],
        ),
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
