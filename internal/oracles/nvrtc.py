"""nvrtc.py LIBRARY [OPTION...] FILE.cu -o FILE.ptx: compiles with NVRTC, which is a library without a program."""
import ctypes, os, sys

library, *args = sys.argv[1:]
at = args.index("-o")
out = args[at + 1]
del args[at : at + 2]
source = args.pop()
nvrtc = ctypes.CDLL(library)


def ask(size, get):
    n = ctypes.c_size_t()
    size(program, ctypes.byref(n))
    text = ctypes.create_string_buffer(n.value)
    get(program, text)
    return text.value


program = ctypes.c_void_p()
with open(source, "rb") as f:
    text = f.read()
options = [a.encode() for a in args + ["-I" + (os.path.dirname(source) or ".")]]
nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, os.path.basename(source).encode(), 0, None, None)
if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
    sys.exit(ask(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).decode())
with open(out, "wb") as f:
    f.write(ask(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX))
