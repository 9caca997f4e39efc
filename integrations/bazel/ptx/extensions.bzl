"""Module extension for an installed ptxlink. WORKSPACE uses host.bzl directly."""

load("//ptx:host.bzl", "ptxlink_host")

def _ptxlink_impl(ctx):
    ptxas = ""
    for module in ctx.modules:
        for host in module.tags.host:
            if module.is_root:
                ptxas = host.ptxas
    ptxlink_host(name = "ptxlink", ptxas = ptxas)

_host = tag_class(
    doc = "Settings for the machine. Only those of the root module count.",
    attrs = {
        "ptxas": attr.string(
            doc = "Path of the ptxas for links to a cubin.",
        ),
    },
)

ptxlink = module_extension(
    implementation = _ptxlink_impl,
    doc = "Creates the repository ptxlink with the target :toolchain.",
    tag_classes = {"host": _host},
)
