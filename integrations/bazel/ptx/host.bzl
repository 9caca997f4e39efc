"""Takes the ptxlink that is installed on the machine as the toolchain."""

def _ptxlink_host_impl(ctx):
    path = ctx.os.environ.get("PTXLINK") or ctx.which("ptxlink")
    if not path:
        fail("no ptxlink on PATH; set PTXLINK to the program, or declare a ptx_toolchain for one in the workspace")
    if not str(path).startswith("/") and str(path)[1:2] != ":":
        fail("PTXLINK must be an absolute path, not %s" % path)
    program = "bin/ptxlink.exe" if str(path).endswith(".exe") else "bin/ptxlink"
    ctx.symlink(path, program)
    ctx.file("bin/BUILD.bazel", """exports_files(["%s"])
""" % program[len("bin/"):])
    ctx.file("BUILD.bazel", """load("{defs}", "ptx_toolchain")

ptx_toolchain(
    name = "host",
    ptxlink = "//bin:{program}",
    visibility = ["//visibility:public"],
)

toolchain(
    name = "toolchain",
    toolchain = ":host",
    toolchain_type = "{type}",
)
""".format(
        defs = Label("//ptx:defs.bzl"),
        program = program[len("bin/"):],
        type = Label("//ptx:toolchain_type"),
    ))

ptxlink_host = repository_rule(
    implementation = _ptxlink_host_impl,
    doc = "A repository with :toolchain, which runs $PTXLINK or the ptxlink on PATH.",
    environ = [
        "PATH",
        "PTXLINK",
    ],
    local = True,
)

def ptxlink_host_toolchain(name = "ptxlink"):
    """For WORKSPACE: takes the machine's ptxlink and registers it.

    Args:
      name: what to call the repository.
    """
    ptxlink_host(name = name)
    native.register_toolchains("@%s//:toolchain" % name)
