"""ptx_compile: compiles CUDA C++ to PTX."""

load("//ptx:info.bzl", "PtxInfo", "ptx_info")
load("//ptx:toolchain.bzl", "TOOLCHAIN_TYPE")

def _ptx_compile_impl(ctx):
    toolchain = ctx.toolchains[TOOLCHAIN_TYPE]
    compilers = {"clang": toolchain.clang, "nvcc": toolchain.nvcc}
    name = ctx.attr.compiler or ("nvcc" if toolchain.nvcc else "clang")
    if not compilers[name]:
        wanted = ctx.attr.compiler or "nvcc or clang"
        fail("the toolchain has no %s; install it, or set it in ptx_toolchain or ptxlink_host_toolchain" % wanted)
    headers = depset(
        ctx.files.hdrs,
        transitive = [dep[PtxInfo].headers for dep in ctx.attr.deps if hasattr(dep[PtxInfo], "headers")],
    )
    outs = [_compile(ctx, toolchain, name, compilers[name], src, headers) for src in ctx.files.srcs]
    return [
        DefaultInfo(files = depset(outs)),
        ptx_info(ctx, outs, ctx.attr.deps, headers = ctx.files.hdrs),
    ]

def _compile(ctx, toolchain, name, compiler, src, headers):
    out = ctx.actions.declare_file("_%s/%s.ptx" % (ctx.label.name, src.short_path.replace("../", "external/")))
    args = ctx.actions.args()
    if name == "nvcc":
        args.add("-ptx")
        args.add("-rdc=true")
        args.add("-arch=" + ctx.attr.arch)
        if ctx.attr.lineinfo:
            args.add("-lineinfo")
    else:
        args.add_all(["-x", "cuda", "--cuda-device-only", "-S", "-fgpu-rdc"])
        args.add("--cuda-gpu-arch=" + ctx.attr.arch)
        if ctx.attr.lineinfo:
            args.add("-gline-tables-only")
    args.add_all([".", ctx.bin_dir.path], before_each = "-I")
    args.add_all(ctx.attr.copts)
    args.add(src)
    args.add("-o", out)
    ctx.actions.run(
        executable = compiler,
        tools = toolchain.compilers,
        arguments = [args],
        inputs = depset([src], transitive = [headers]),
        outputs = [out],
        use_default_shell_env = True,  # nvcc searches PATH for the compiler of the host
        mnemonic = "PtxCompile",
        progress_message = "Compiling %s for %s" % (src.short_path, ctx.attr.arch),
    )
    return out

ptx_compile = rule(
    implementation = _ptx_compile_impl,
    doc = "Compiles CUDA C++ to relocatable PTX, one module for each source, with the nvcc or clang of the toolchain.",
    attrs = {
        "arch": attr.string(
            doc = "The GPU: sm_80. The PTX runs there and on later ones.",
            mandatory = True,
        ),
        "compiler": attr.string(
            doc = "nvcc or clang; by default nvcc if the toolchain has it.",
            values = ["", "clang", "nvcc"],
        ),
        "copts": attr.string_list(
            doc = "Options of the compiler.",
        ),
        "deps": attr.label_list(
            doc = "Targets that define what the sources call. The sources may include their headers.",
            providers = [PtxInfo],
        ),
        "hdrs": attr.label_list(
            doc = "Headers, included by their path from the root of the workspace or the directory of the source, here and where deps names this target.",
            allow_files = True,
        ),
        "lineinfo": attr.bool(
            doc = "Keep line numbers, for messages and profilers. nvcc then writes the absolute paths of the sources, which differ between sandboxes.",
        ),
        "srcs": attr.label_list(
            doc = "CUDA C++.",
            mandatory = True,
            allow_empty = False,
            allow_files = [".cu"],
        ),
    },
    provides = [PtxInfo],
    toolchains = [TOOLCHAIN_TYPE],
)
