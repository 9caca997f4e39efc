"""test_nvjitlink.py LIBRARY: calls what takes nvJitLink's place as its users do, by the names of every release."""

import ctypes
import os
import sys
import threading
import unittest

LIBRARY = sys.argv.pop(1)
MAJOR = int(LIBRARY[-2:])
HEAD = b".version 7.0\n.target sm_75\n.address_size 64\n"
MAIN = HEAD + b".extern .func (.param .b32 r) f (.param .b32 x);\n.extern .global .align 4 .b8 table[8];\n.visible .entry k () { .reg .u64 %t; .param .b32 r, x; mov.u64 %t, table; st.param.b32 [x], 1; call (r), f, (x); ret; }\n"
LIB = HEAD + b".visible .global .align 4 .b8 table[8];\n.visible .func (.param .b32 r) f (.param .b32 x) { st.param.b32 [r], 1; ret; }\n"
(SUCCESS, UNRECOGNIZED_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, _, INTERNAL, _, UNRECOGNIZED_INPUT) = range(9)
NULL_INPUT, INCORRECT_INPUT_TYPE = (10, 12) if MAJOR >= 13 else (INVALID_INPUT, INVALID_INPUT)
CUBIN, PTX, LTOIR, FATBIN, OBJECT, LIBRARY_INPUT, ANY = 1, 2, 3, 4, 5, 6, 10
nvjitlink = ctypes.CDLL(LIBRARY)


class Handle:
    """Calls functions of a release, such as "_12_4"; "" is the names without one."""

    def __init__(self, *options, release=""):
        self.release, self.handle = release, ctypes.c_void_p()
        self.created = self.call("Create", ctypes.byref(self.handle), ctypes.c_uint32(len(options)), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))

    def call(self, name, *args):
        return getattr(nvjitlink, f"__nvJitLink{name}{self.release}" if self.release else f"nvJitLink{name}")(*args)

    def add(self, data, name=b"a.ptx", kind=ANY):
        return self.call("AddData", self.handle, kind, data, ctypes.c_size_t(len(data or b"")), name)

    def complete(self):
        return self.call("Complete", self.handle)

    def get(self, what):
        size = ctypes.c_size_t()
        result = self.call(f"Get{what}Size", self.handle, ctypes.byref(size))
        if result != SUCCESS:
            return result
        data = ctypes.create_string_buffer(size.value)
        assert self.call(f"Get{what}", self.handle, data) == SUCCESS
        return data.raw

    def log(self):
        return self.get("ErrorLog").decode()

    def __del__(self):
        if self.handle:
            assert self.call("Destroy", ctypes.byref(self.handle)) == SUCCESS and not self.handle


def linked(release="", *options):
    h = Handle("-arch=sm_80", *options, release=release)
    assert h.add(MAIN) == h.add(LIB + b"\0", b"b.ptx") == h.complete() == SUCCESS, h.log()
    return h


class NvJitLink(unittest.TestCase):
    def test_releases(self):
        names = [""] + [f"_{MAJOR}_{minor}" for minor in range(10 if MAJOR == 12 else 6)]
        for release in names:
            h = linked(release)
            self.assertEqual(h.get("LinkedCubin")[:4], b"\x7fELF")
            self.assertEqual((h.get("ErrorLog"), h.get("InfoLog")), (b"\0", b"\0"))
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        self.assertEqual(nvjitlink.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor)), SUCCESS)
        self.assertEqual(major.value, MAJOR)

    def test_ptx_of_ptx(self):
        h = linked()
        self.assertRegex(h.get("LinkedPtx"), rb"\.visible \.entry k[^\0]*\0$")
        h = linked("", "-ptx", "-lto")
        self.assertIn(b".visible .entry k", h.get("LinkedPtx"))
        self.assertNotEqual(h.get("LinkedCubin"), SUCCESS)

    def test_options(self):
        for option in ("-maxrregcount=32 -time -verbose -O3 -lineinfo -ftz=true -prec-div=false -prec-sqrt=true -fma=true -split-compile=0 -no-cache -optimize-unused-variables "
                       "-Xptxas=-v -O0 -kernels-used=k -variables-used=table -split-compile-extended=1 -g").split():
            self.assertEqual(linked("", option).get("LinkedCubin")[:4], b"\x7fELF", option)
        for options, want in [((), MISSING_ARCH), (("-O3",), MISSING_ARCH), (("-arch=sm_80", "-nothing"), UNRECOGNIZED_OPTION), (("-arch=sm_XX",), UNRECOGNIZED_OPTION), (("arch=sm_80",), UNRECOGNIZED_OPTION), (("-arch=sm_90a",), SUCCESS)]:
            self.assertEqual(Handle(*options).created, want, options)
        h = Handle("-arch=sm_80", "-r")
        self.assertEqual((h.add(MAIN), h.complete()), (SUCCESS, SUCCESS), h.log())
        self.assertEqual(h.get("LinkedCubin")[16], 1)  # ET_REL
        h = Handle("-arch=sm_80", "-kernels-used=k")
        self.assertEqual((h.add(HEAD + b".visible .entry k () { ret; }\n.visible .entry other () { ret; }\n"), h.complete()), (SUCCESS, SUCCESS))
        self.assertNotIn(b"other", h.get("LinkedCubin"))
        h = Handle("-arch=sm_80", "-kernels-used=nothing")  # as a test of cuda-core's expects
        self.assertEqual((h.add(HEAD + b".visible .entry k () { ret; }\n"), h.complete()), (SUCCESS, SUCCESS), h.log())
        self.assertNotIn(b".text.k", h.get("LinkedCubin"))

    def test_refusals(self):
        h = Handle("-arch=sm_80")
        self.assertEqual((h.add(MAIN), h.complete()), (SUCCESS, INTERNAL))
        self.assertRegex(h.log(), r"a\.ptx:6:\d+: error: undefined symbol: table, used in k")
        self.assertEqual(h.get("LinkedCubin"), INTERNAL)
        # NVIDIA's library links two functions of one name, and aggregates of two alignments.
        h = Handle("-arch=sm_80")
        h.add(MAIN), h.add(LIB, b"b.ptx"), h.add(LIB, b"c.ptx")
        self.assertEqual(h.complete(), INTERNAL)
        self.assertRegex(h.log(), r"c\.ptx:4:\d+: error: multiple definition of table")
        h = Handle("-arch=sm_80")
        h.add(MAIN.replace(b"table[8]", b"table[16]")), h.add(LIB, b"b.ptx")
        self.assertEqual(h.complete(), INTERNAL)
        h = Handle("-arch=sm_80")
        h.add(HEAD + b".extern .func g (.param .b32 a, .param .align 4 .b8 x[16]);\n.visible .entry k () { .param .b32 a; .param .align 4 .b8 x[16]; call g, (a, x); ret; }\n")
        h.add(HEAD + b".visible .func g (.param .b32 a, .param .align 16 .b8 x[16]) { ret; }\n", b"b.ptx")
        self.assertEqual(h.complete(), INTERNAL)
        self.assertRegex(h.log(), r"a\.ptx:4:\d+: error: g takes 16 bytes aligned to 4 here but 16 bytes aligned to 16 where it is defined")
        h = Handle("-arch=sm_80")
        self.assertEqual(h.add(HEAD + b".visible .entry k ( { }\n", b"bad.ptx", PTX), PTX_COMPILE)
        self.assertRegex(h.log(), r"^bad\.ptx:4:\d+: error: ")
        self.assertEqual(h.complete(), PTX_COMPILE)

    def test_inputs(self):
        h = Handle("-arch=sm_80")
        self.assertEqual(h.call("AddData", h.handle, ANY, None, ctypes.c_size_t(3), b"x"), INVALID_INPUT)
        self.assertEqual(h.add(MAIN, b"x", 99), INCORRECT_INPUT_TYPE)
        self.assertEqual(h.add(MAIN, b"x", CUBIN), INCORRECT_INPUT_TYPE)
        h = Handle("-arch=sm_80")
        self.assertEqual(h.complete(), SUCCESS)  # nothing is a program
        self.assertEqual(h.get("LinkedCubin")[:4], b"\x7fELF")
        self.assertEqual((h.add(MAIN), h.complete()), (INTERNAL, INTERNAL))
        # Inputs of one name, or none, and files.
        for path in (b"a.ptx", b"", None):
            h = Handle("-arch=sm_80")
            self.assertEqual((h.add(MAIN, path), h.add(LIB, path), h.complete()), (SUCCESS,) * 3, h.log())
        with open("lib.ptx", "wb") as f:
            f.write(LIB)
        h = Handle("-arch=sm_80")
        self.assertEqual((h.add(MAIN), h.call("AddFile", h.handle, PTX, b"lib.ptx"), h.complete()), (SUCCESS,) * 3)
        # What cannot be added makes the link fail.
        for add in (lambda h: h.call("AddFile", h.handle, PTX, b"none.ptx"), lambda h: h.call("AddFile", h.handle, PTX, b"."), lambda h: h.add(None), lambda h: h.add(b"")):
            h = Handle("-arch=sm_80")
            self.assertEqual((h.add(MAIN + LIB[len(HEAD):].replace(b".visible", b".weak")), add(h), h.complete()), (SUCCESS, INVALID_INPUT, INVALID_INPUT))
        self.assertEqual(Handle("-arch=sm_80", "-Xptxas=" + "v" * 5000).created, INTERNAL)
        member = b"!<arch>\n" + b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"lib.ptx/", 0, 0, 0, 0o644, len(LIB)) + LIB + b"\n" * (len(LIB) % 2)
        h = Handle("-arch=sm_80")
        self.assertEqual((h.add(MAIN), h.add(member, b"lib.a", LIBRARY_INPUT), h.complete()), (SUCCESS,) * 3, h.log())

    def test_threads_and_fork(self):
        wrong = []

        def work():
            for _ in range(10):
                if linked().get("LinkedCubin")[:4] != b"\x7fELF":
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        children = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if linked().get("LinkedCubin")[:4] == b"\x7fELF" else 1)
            children.append(pid)
        [t.join() for t in threads]
        self.assertEqual([os.waitpid(pid, 0)[1] for pid in children], [0] * 4)
        self.assertEqual(wrong, [])


unittest.main()
