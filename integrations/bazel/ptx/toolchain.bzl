"""The toolchain: which ptxlink the rules run."""

# Bazel 2 reads a plain "//ptx:..." as one of the main repository.
TOOLCHAIN_TYPE = str(Label("//ptx:toolchain_type"))

def _ptx_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        ptxlink = ctx.executable.ptxlink,
        ptxas = ctx.executable.ptxas,
        tools = [
            tool[DefaultInfo].files_to_run
            for tool in [ctx.attr.ptxlink, ctx.attr.ptxas]
            if tool
        ],
    )]

ptx_toolchain = rule(
    implementation = _ptx_toolchain_impl,
    doc = "A ptxlink that runs on the build machine. A toolchain() of the type //ptx:toolchain_type leads to it.",
    attrs = {
        "ptxas": attr.label(
            doc = "The ptxas for links to a cubin. Without one, ptxlink looks in what --action_env sets of PTXAS, CUDA_HOME, CUDA_PATH and PATH.",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "ptxlink": attr.label(
            doc = "The program. A file of its own, or a rule that builds it.",
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
      **kwargs: as for ctx.actions.run.
    """
    toolchain = ctx.toolchains[TOOLCHAIN_TYPE]
    ctx.actions.run(
        executable = toolchain.ptxlink,
        tools = toolchain.tools,
        # ptxlink looks for ptxas in $PTXAS, $CUDA_HOME, $CUDA_PATH and $PATH,
        # which come from --action_env.
        use_default_shell_env = True,
        **kwargs
    )

def response_file(ctx):
    """An Args that reaches ptxlink as @FILE. What is added must be quoted.

    Args:
      ctx: the rule's context.

    Returns:
      An Args for add_all(..., map_each = quoted).
    """

    # ptxlink splits the file as GCC does. Bazel's "shell" format is not that:
    # GCC takes a backslash between single quotes as an escape. So the file is
    # verbatim, always there, and each argument is quoted.
    args = ctx.actions.args()
    args.use_param_file("@%s", use_always = True)
    args.set_param_file_format("multiline")
    return args

def quoted(arg):
    """A string, or the path of a file, as ptxlink reads it in a response file.

    Args:
      arg: a string or a File.

    Returns:
      The text with a backslash before each byte that means something.
    """
    text = arg if type(arg) == type("") else arg.path
    for special in ["\\", "'", "\"", " ", "\t", "\n"]:
        text = text.replace(special, "\\" + special)
    return text
