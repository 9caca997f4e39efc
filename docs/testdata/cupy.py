"""Stands in for CuPy in the test of from-cupy.md. CuPy 14.2 imports, and makes a RawModule, without a
driver; get_function needs one.

RawModule checks that the file is a cubin, and get_function that it has the kernel. Not tested: that
the driver loads the cubin, and what the kernel computes.
"""
import struct
import subprocess


class cuda:
    class Device:
        compute_capability = "80"


class RawModule:
    def __init__(self, *, path):
        with open(path, "rb") as file:
            head = file.read(20)
        if head[:4] != b"\x7fELF" or struct.unpack_from("<H", head, 18)[0] != 190:  # EM_CUDA
            raise ValueError(path + " is not a cubin")
        self.path = path

    def get_function(self, name):
        symbols = subprocess.run(["cuobjdump", "-elf", self.path], check=True, capture_output=True, text=True).stdout
        # A kernel has the flag STO_CUDA_ENTRY in the column "other".
        if not any(line.split()[4:7:2] == ["0x10", name] for line in symbols.splitlines()):
            raise ValueError(self.path + " has no kernel " + name)
