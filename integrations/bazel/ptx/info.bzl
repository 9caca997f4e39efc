"""What the rules hand to each other."""

load("//ptx:toolchain.bzl", "quoted", "response_file", "run_ptxlink")

PtxInfo = provider(
    doc = "What goes into a link: modules and libraries, a target's own before those of its deps.",
    fields = {
        "inputs": "depset of File, in link order: PTX, archives, fatbins, host objects",
        "symbols": "depset of File: for each input that may be an archive, what it defines",
    },
)

def ptx_info(ctx, direct, deps):
    """Makes the PtxInfo of a target, and the actions that list symbols.

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
    # An archive that a link did not use can change the link only by defining
    # other names, or with another linkage. The link takes this list as an input
    # that is always used, so that unused_inputs_list may leave out the archive.
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
