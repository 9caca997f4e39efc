"""nvjitlink.py LIBRARY ARCH FILE.ptx...: links PTX with nvJitLink and prints its messages."""
import ctypes, sys

lib = ctypes.CDLL(sys.argv[1])
options = [b"-arch=" + sys.argv[2].encode()]
handle = ctypes.c_void_p()
lib.nvJitLinkCreate(ctypes.byref(handle), len(options), (ctypes.c_char_p * len(options))(*options))
PTX = 2
status = 0
for path in sys.argv[3:]:
    data = open(path, "rb").read() + b"\0"
    status = status or lib.nvJitLinkAddData(handle, PTX, data, ctypes.c_size_t(len(data)), path.encode())
status = status or lib.nvJitLinkComplete(handle)
size = ctypes.c_size_t()
lib.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value + 1)
lib.nvJitLinkGetErrorLog(handle, log)
print(f"nvJitLink: status {status}", log.value.decode().strip(), sep="\n")
