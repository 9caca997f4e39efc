"""Uses the ptxlink that is installed on the machine as the toolchain."""

def _program(ctx, path, whose):
    """Creates a symbolic link in bin/ to an installed program and returns its name."""
    if not str(path).startswith("/") and str(path)[1:2] != ":":
        fail("%s must be an absolute path, not %s" % (whose, path))
    path = ctx.path(str(path))
    if not path.exists:
        fail("there is no file %s, which %s names" % (path, whose))
    ctx.symlink(path, "bin/" + path.basename)
    return path.basename

def _ptxlink_host_impl(ctx):
    if ctx.os.environ.get("PTXLINK"):
        program = _program(ctx, ctx.os.environ["PTXLINK"], "PTXLINK")
    elif ctx.which("ptxlink"):
        program = _program(ctx, ctx.which("ptxlink"), "PATH")
    else:
        fail("no ptxlink on PATH; set PTXLINK to the program, or declare a ptx_toolchain for one in the workspace")
    programs = [program]
    ptxas = ""
    if ctx.attr.ptxas:
        programs.append(_program(ctx, ctx.attr.ptxas, "the attribute ptxas"))
        ptxas = """
    ptxas = "//bin:%s",""" % programs[1]
    ctx.file("bin/BUILD.bazel", "exports_files(%s)\n" % programs)
    ctx.file("BUILD.bazel", """load("{defs}", "ptx_toolchain")

ptx_toolchain(
    name = "host",
    ptxlink = "//bin:{program}",{ptxas}
    visibility = ["//visibility:public"],
)

toolchain(
    name = "toolchain",
    toolchain = ":host",
    toolchain_type = "{type}",
)
""".format(
        defs = Label("//ptx:defs.bzl"),
        program = program,
        ptxas = ptxas,
        type = Label("//ptx:toolchain_type"),
    ))

ptxlink_host = repository_rule(
    implementation = _ptxlink_host_impl,
    doc = "A repository whose :toolchain runs $PTXLINK or the ptxlink on PATH.",
    attrs = {
        "ptxas": attr.string(
            doc = "Path of the ptxas for links to a cubin. If empty, ptxlink searches for it when it runs.",
        ),
    },
    environ = [
        "PATH",
        "PTXLINK",
    ],
    local = True,
)

def ptxlink_host_toolchain(name = "ptxlink", ptxas = ""):
    """Registers the ptxlink that is installed on the machine, for WORKSPACE.

    Args:
      name: name of the repository.
      ptxas: path of the ptxas for links to a cubin. If empty, ptxlink searches
        for it when it runs.
    """
    ptxlink_host(name = name, ptxas = ptxas)
    native.register_toolchains("@%s//:toolchain" % name)
