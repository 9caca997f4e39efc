"""Uses the ptxlink that is installed on the machine as the toolchain."""

def _program(ctx, path, whose):
    """Creates a symbolic link in bin/ to an installed program and returns its name."""
    path = _existing(ctx, path, whose)
    ctx.symlink(path, "bin/" + path.basename)
    return path.basename

def _existing(ctx, path, whose):
    if not str(path).startswith("/") and str(path)[1:2] != ":":
        fail("%s must be an absolute path, not %s" % (whose, path))
    path = ctx.path(str(path))
    if not path.exists:
        fail("there is no file %s, which %s names" % (path, whose))
    return path

def _compiler(ctx, name, directories, path):
    """Creates a program in bin/ that runs an installed compiler and returns its name.

    A compiler finds its other programs and headers beside itself, and nvcc does not
    follow a symbolic link first.
    """
    if path:
        path = _existing(ctx, path, "the attribute " + name)
    else:
        for directory in directories:
            if directory and ctx.path(directory).get_child("bin").get_child(name).exists:
                path = ctx.path(directory).get_child("bin").get_child(name)
                break
        path = path or ctx.which(name)
    if not path:
        return ""
    quoted = str(path).replace("'", "'\\''")
    ctx.file("bin/" + name, "#!/bin/sh\nexec '%s' \"$@\"\n" % quoted, executable = True)
    return name

def _ptxlink_host_impl(ctx):
    env = ctx.os.environ
    programs = {}
    if env.get("PTXLINK"):
        programs["ptxlink"] = _program(ctx, env["PTXLINK"], "PTXLINK")
    elif ctx.which("ptxlink"):
        programs["ptxlink"] = _program(ctx, ctx.which("ptxlink"), "PATH")
    else:
        fail("no ptxlink on PATH; set PTXLINK to the program, or declare a ptx_toolchain for one in the workspace")
    nvlink = ctx.attr.nvlink
    if ctx.attr.ptxas:
        programs["ptxas"] = _program(ctx, ctx.attr.ptxas, "the attribute ptxas")

        # That of another release may not read the cubins.
        beside = ctx.path(ctx.attr.ptxas).dirname.get_child("nvlink")
        if not nvlink and beside.exists:
            nvlink = str(beside)
    if nvlink:
        programs["nvlink"] = _program(ctx, nvlink, "the attribute nvlink")
    directories = [env.get("CUDA_HOME"), env.get("CUDA_PATH")]
    programs["nvcc"] = _compiler(ctx, "nvcc", directories, ctx.attr.nvcc)
    programs["clang"] = _compiler(ctx, "clang", [], ctx.attr.clang)
    programs = {name: file for name, file in programs.items() if file}
    ctx.file("bin/BUILD.bazel", "exports_files(%s)\n" % programs.values())
    ctx.file("BUILD.bazel", """load("{defs}", "ptx_toolchain")

ptx_toolchain(
    name = "host",
{programs}    visibility = ["//visibility:public"],
)

toolchain(
    name = "toolchain",
    toolchain = ":host",
    toolchain_type = "{type}",
)
""".format(
        defs = Label("//ptx:defs.bzl"),
        programs = "".join(["    %s = \"//bin:%s\",\n" % item for item in programs.items()]),
        type = Label("//ptx:toolchain_type"),
    ))

ptxlink_host = repository_rule(
    implementation = _ptxlink_host_impl,
    doc = "A repository whose :toolchain runs $PTXLINK or the ptxlink on PATH.",
    attrs = {
        "clang": attr.string(
            doc = "Path of the clang for ptx_compile. If empty, that on PATH.",
        ),
        "nvcc": attr.string(
            doc = "Path of the nvcc for ptx_compile. If empty, that of $CUDA_HOME, $CUDA_PATH or PATH.",
        ),
        "nvlink": attr.string(
            doc = "Path of the nvlink that joins partitions. If empty, that beside ptxas.",
        ),
        "ptxas": attr.string(
            doc = "Path of the ptxas for links to a cubin. If empty, ptxlink searches for it when it runs.",
        ),
    },
    environ = [
        "CUDA_HOME",
        "CUDA_PATH",
        "PATH",
        "PTXLINK",
    ],
    local = True,
)

def ptxlink_host_toolchain(name = "ptxlink", **programs):
    """Registers the ptxlink that is installed on the machine, for WORKSPACE.

    Args:
      name: name of the repository.
      **programs: paths of ptxas, nvlink, nvcc and clang, as attributes of
        ptxlink_host.
    """
    ptxlink_host(name = name, **programs)
    native.register_toolchains("@%s//:toolchain" % name)
