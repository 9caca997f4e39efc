"""The toolchain: which ptxlink, ptxas, nvlink and compilers the rules run."""

# Bazel 2 resolves a plain "//ptx:..." in the main repository.
TOOLCHAIN_TYPE = str(Label("//ptx:toolchain_type"))

def _ptx_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        ptxlink = ctx.executable.ptxlink,
        ptxas = ctx.executable.ptxas,
        nvlink = ctx.executable.nvlink,
        nvcc = ctx.executable.nvcc,
        clang = ctx.executable.clang,
        tools = _to_run([ctx.attr.ptxlink, ctx.attr.ptxas, ctx.attr.nvlink]),
        compilers = _to_run([ctx.attr.nvcc, ctx.attr.clang]),
    )]

def _to_run(targets):
    return [target[DefaultInfo].files_to_run for target in targets if target]

ptx_toolchain = rule(
    implementation = _ptx_toolchain_impl,
    doc = "A ptxlink that runs on the build machine. A toolchain() of type //ptx:toolchain_type refers to it.",
    attrs = {
        "clang": attr.label(
            doc = "The clang for ptx_compile.",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "nvcc": attr.label(
            doc = "The nvcc for ptx_compile.",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "nvlink": attr.label(
            doc = "The nvlink of the same release as ptxas. ptx_cubin needs it to join partitions.",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "ptxas": attr.label(
            doc = "The ptxas for links to a cubin. By default ptxlink searches PTXAS, CUDA_HOME, CUDA_PATH and PATH as set by --action_env.",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "ptxlink": attr.label(
            doc = "The ptxlink program: a file, or a rule that builds one.",
            mandatory = True,
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
    },
)

def run_ptxlink(ctx, **kwargs):
    """Declares an action that runs ptxlink.

    Args:
      ctx: the rule's context.
      **kwargs: arguments of ctx.actions.run.
    """
    toolchain = ctx.toolchains[TOOLCHAIN_TYPE]
    ctx.actions.run(
        executable = toolchain.ptxlink,
        tools = toolchain.tools,
        # ptxlink searches $PTXAS, $CUDA_HOME, $CUDA_PATH and $PATH for ptxas.
        # --action_env sets them.
        use_default_shell_env = True,
        **kwargs
    )

def response_file(ctx):
    """Returns an Args that is passed to ptxlink as @FILE. Its contents must be quoted.

    Args:
      ctx: the rule's context.

    Returns:
      An Args for add_all(..., map_each = quoted).
    """

    # ptxlink splits the file like GCC, which treats a backslash within single
    # quotes as an escape; Bazel's "shell" format does not. So the file is written
    # verbatim in all cases, and each argument is quoted.
    args = ctx.actions.args()
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    return args

def add_programs(args, toolchain):
    """Adds the options for the ptxas and nvlink of the toolchain.

    Args:
      args: an Args of response_file.
      toolchain: the ToolchainInfo.
    """
    if toolchain.ptxas:
        args.add_all([toolchain.ptxas], map_each = quoted, format_each = "--ptxas=%s")
    if toolchain.nvlink:
        args.add_all([toolchain.nvlink], map_each = quoted, format_each = "--nvlink=%s")

def quoted(arg):
    """Quotes a string or the path of a file for a response file of ptxlink.

    Args:
      arg: a string or a File.

    Returns:
      The text with a backslash before each special character.
    """
    text = arg if type(arg) == type("") else arg.path
    for special in ["\\", "'", "\"", " ", "\t", "\n"]:
        text = text.replace(special, "\\" + special)
    return text
