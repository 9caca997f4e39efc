"""The machine's ptxlink for MODULE.bazel. WORKSPACE uses host.bzl directly."""

load("//ptx:host.bzl", "ptxlink_host")

def _ptxlink_impl(ctx):
    ptxas = ""
    for module in ctx.modules:
        for host in module.tags.host:
            if module.is_root:
                ptxas = host.ptxas
    ptxlink_host(name = "ptxlink", ptxas = ptxas)

_host = tag_class(
    doc = "What the root module says of the machine.",
    attrs = {
        "ptxas": attr.string(
            doc = "The path of the ptxas for links to a cubin.",
        ),
    },
)

ptxlink = module_extension(
    implementation = _ptxlink_impl,
    doc = "Makes the repository ptxlink, with :toolchain in it.",
    tag_classes = {"host": _host},
)
