"""The machine's ptxlink for MODULE.bazel. WORKSPACE uses host.bzl directly."""

load("//ptx:host.bzl", "ptxlink_host")

def _ptxlink_impl(_ctx):
    ptxlink_host(name = "ptxlink")

ptxlink = module_extension(
    implementation = _ptxlink_impl,
    doc = "Makes the repository ptxlink, with :toolchain in it.",
)
