"""Runs the cases of nvjitlink-cases.md against libraries, and compares what comes out with that page.

    nvjitlink_cases.py [--update] COLUMN=LIBRARY...

COLUMN is a release of NVIDIA's library ("12.9"), or "here 12" and "here 13". $PTXAS, $NVCC and $FATBINARY
make the inputs. With --update the columns are written; a case that differs from the release of its column
needs a reason in WHY.
"""

import ctypes
import os
import signal
import struct
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nvjitlink-cases.md")
COLUMNS = ["12.4", "12.9", "13.5", "here 12", "here 13"]
CODES = "SUCCESS UNRECOGNIZED_OPTION MISSING_ARCH INVALID_INPUT PTX_COMPILE NVVM_COMPILE INTERNAL THREADPOOL UNRECOGNIZED_INPUT FINALIZE NULL_INPUT INCOMPATIBLE_OPTIONS INCORRECT_INPUT_TYPE ARCH_MISMATCH OUTDATED_LIBRARY MISSING_FATBIN UNRECOGNIZED_ARCH UNSUPPORTED_ARCH LTO_NOT_ENABLED".split()
NONE, CUBIN, PTX, LTOIR, FATBIN, OBJECT, LIBRARY, INDEX, ANY = 0, 1, 2, 3, 4, 5, 6, 7, 10
HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
USE = ".extern .func (.param .b32 r) f (.param .b32 x);\n.visible .entry k (.param .u64 p) { .reg .u64 %p; .reg .u32 %x; .param .b32 r, x; ld.param.u64 %p, [p]; st.param.b32 [x], 1; call (r), f, (x); ld.param.b32 %x, [r]; st.global.u32 [%p], %x; ret; }\n"
DEFINE = ".visible .func (.param .b32 r) f (.param .b32 x) { .reg .u32 %x; ld.param.u32 %x, [x]; add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }\n"
OTHER = DEFINE.replace(", 1;", ", 2;")
ENTRY = ".visible .entry k () { ret; }\n"
TEXTS = {
    "main": HEAD + USE,
    "lib": HEAD + DEFINE,
    "other": HEAD + OTHER,
    "weak": HEAD + DEFINE.replace(".visible", ".weak"),
    "two": HEAD + ENTRY + ENTRY.replace("k ()", "k2 ()"),
    "one": HEAD + ENTRY,
    "syntax": HEAD + ".visible .entry k ( { }\n",
    "unknown": HEAD + ".visible .entry k () { frob; ret; }\n",
    "version": (HEAD + ENTRY).replace("7.0", "99.9"),
    "target": (HEAD + ENTRY).replace("7.0", "7.8").replace("sm_75", "sm_90"),
    "narrow": HEAD.replace("64", "32") + ENTRY,
    "nothing": HEAD,
    "large": HEAD + DEFINE.replace(".param .b32 x", ".param .b64 x"),
    "caller of 4": HEAD + ".extern .func g (.param .b32 a, .param .align 4 .b8 x[16]);\n.visible .entry k () { .param .b32 a; .param .align 4 .b8 x[16]; call g, (a, x); ret; }\n",
    "callee of 16": HEAD + ".visible .func g (.param .b32 a, .param .align 16 .b8 x[16]) { ret; }\n",
    "variable of 8": HEAD + ".extern .global .align 4 .b8 v[8];\n.visible .entry k () { .reg .u64 %t; mov.u64 %t, v; st.global.u64 [%t], %t; ret; }\n",
    "variable of 4": HEAD + ".visible .global .align 4 .b8 v[4];\n",
    "unused variable": HEAD + ".visible .global .align 4 .b8 v[4];\n.visible .entry k () { ret; }\n",
    "trap": HEAD + ".visible .entry k () { trap; ret; }\n",
}
SOURCES = {
    "main": 'extern "C" __device__ int f(int);\nextern "C" __global__ void k(int *p) { *p = f(1); }\n',
    "lib": 'extern "C" __device__ int f(int x) { return x + 1; }\n',
    "host": "int host() { return 1; }\n",
}


def archive(members):
    data = b"!<arch>\n"
    for name, text in members:
        data += b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name.encode() + b"/", 0, 0, 0, 0o644, len(text)) + text + b"\n" * (len(text) % 2)
    return data


def make_inputs():
    """Returns the inputs by name."""
    data = {name: text.encode() for name, text in TEXTS.items()}

    def run(*args):
        subprocess.run(args, check=True, capture_output=True)

    def read(path):
        with open(path, "rb") as f:
            return f.read()

    def assemble(name, gpu, *options):
        with open("in.ptx", "wb") as f:
            f.write(data[name])
        run(os.environ["PTXAS"], *options, "-arch=" + gpu, "in.ptx", "-o", "out.cubin")
        return read("out.cubin")

    for name in ("main", "lib", "other"):
        data[name + ".cubin"] = assemble(name, "sm_80", "-c")
    data["main.cubin of sm_90"] = assemble("main", "sm_90", "-c")
    data["executable"] = assemble("one", "sm_80")
    data["truncated cubin"] = data["main.cubin"][:300]
    for name in ("main", "lib"):
        with open("in.ptx", "wb") as f:
            f.write(b"//\n" + data[name])  # fatbinary 12.4 empties the first line
        with open("in.cubin", "wb") as f:
            f.write(data[name + ".cubin"])
        run(os.environ["FATBINARY"], "-64", "--create=out.fatbin", "--image3=kind=ptx,sm=80,file=in.ptx")
        data[name + " fatbin of PTX"] = read("out.fatbin")
        run(os.environ["FATBINARY"], "-64", "-c", "--create=out.fatbin", "--image3=kind=elf,sm=80,file=in.cubin")
        data[name + " fatbin of cubin"] = read("out.fatbin")
    data["truncated fatbin"] = data["main fatbin of PTX"][:60]
    for name, text in SOURCES.items():
        with open(name + ".cu", "w") as f:
            f.write(text)
    nvcc = os.environ["NVCC"]
    for name in ("main", "lib"):
        for kind, code in (("object", "arch=compute_80,code=sm_80"), ("object of PTX", "arch=compute_80,code=compute_80"), ("object of LTO-IR", "arch=compute_80,code=lto_80")):
            run(nvcc, "-dc", "-gencode", code, name + ".cu", "-o", "out.o")
            data[name + " " + kind] = read("out.o")
        run(nvcc, "-dc", "-keep", "-gencode", "arch=compute_80,code=lto_80", name + ".cu", "-o", "out.o")
        data[name + " LTO-IR"] = read(name + ".ltoir")
        run(nvcc, "-fatbin", "-rdc=true", "-gencode", "arch=compute_80,code=lto_80", name + ".cu", "-o", "out.fatbin")
        data[name + " fatbin of LTO-IR"] = read("out.fatbin")
    run(nvcc, "-c", "host.cu", "-o", "out.o")
    data["host object"] = read("out.o")
    for kind, names in (("objects", ["lib object"]), ("objects of PTX", ["lib object of PTX"]), ("PTX", ["lib"]), ("cubins", ["lib.cubin"]), ("host objects", ["host object"])):
        data["library of " + kind] = archive([("m%d.o" % i, data[n]) for i, n in enumerate(names)])
    data["truncated library"] = data["library of objects"][:200]
    data["garbage"] = b"this is nothing\n"
    data["NUL"] = data["main"] + b"\0"
    return data


class Run:
    """Calls a library, and notes what comes out."""

    def __init__(self, library, column, data):
        self.data, self.said = data, []
        self.codes = [c for c in CODES if c != "FINALIZE"] if column == "12.4" else CODES
        self.library, self.handle = ctypes.CDLL(library), ctypes.c_void_p()

    def call(self, name, *args):
        code = getattr(self.library, "nvJitLink" + name)(*args)
        return self.codes[code] if 0 <= code < len(self.codes) else str(code)

    def say(self, text):
        self.said.append(text)

    def create(self, *options):
        code = self.call("Create", ctypes.byref(self.handle), ctypes.c_uint32(len(options)), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))
        if code != "SUCCESS":
            self.say("Create " + code)
        return code == "SUCCESS"

    def add(self, kind, name):
        data = self.data[name]
        code = self.call("AddData", self.handle, kind, data, ctypes.c_size_t(len(data)), name.encode())
        if code != "SUCCESS":
            self.say("AddData " + code)
        return code == "SUCCESS"

    def add_file(self, kind, name):
        path = name
        if name in self.data:
            path = "file"
            with open(path, "wb") as f:
                f.write(self.data[name])
        code = self.call("AddFile", self.handle, kind, path.encode())
        if code != "SUCCESS":
            self.say("AddFile " + code)
        return code == "SUCCESS"

    def get(self, what):
        """Returns bytes, or a code."""
        size = ctypes.c_size_t()
        code = self.call("Get%sSize" % what, self.handle, ctypes.byref(size))
        if code != "SUCCESS":
            return code
        into = ctypes.create_string_buffer(max(1, size.value))
        code = self.call("Get" + what, self.handle, into)
        return into.raw[: size.value] if code == "SUCCESS" else code

    def complete(self):
        code = self.call("Complete", self.handle)
        if code != "SUCCESS":
            self.say("Complete " + code)
        return code == "SUCCESS"

    def log(self):
        for what in ("ErrorLog", "InfoLog"):
            text = self.get(what)
            if isinstance(text, bytes) and text.strip(b"\0\n "):
                self.say({"ErrorLog": "error log", "InfoLog": "info log"}[what])

    def cubin(self):
        cubin = self.get("LinkedCubin")
        self.say("cubin: " + contents(cubin) if isinstance(cubin, bytes) else "no cubin: " + cubin)

    def link(self, options, inputs):
        """Goes on until a call fails."""
        if self.create("-arch=sm_80", *options):
            if all([self.add(kind, name) for kind, name in inputs]) and self.complete():
                self.cubin()
            self.log()


def contents(cubin):
    """Returns the kernels and variables that an ELF file defines."""
    if cubin[:4] != b"\x7fELF":
        return "not ELF"
    (shoff,) = struct.unpack_from("<Q", cubin, 40)
    size, count = struct.unpack_from("<HH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, shoff + i * size) for i in range(count)]
    names = []
    for s in sections:
        if s[1] != 2:
            continue
        strings = sections[s[6]][4]
        for at in range(s[4], s[4] + s[5], 24):
            name, info, other, section = struct.unpack_from("<IBBH", cubin, at)
            if (info & 15 == 1 or info & 15 == 2 and other & 0x10) and section and info >> 4:
                names.append(cubin[strings + name : cubin.index(b"\0", strings + name)].decode())
    kind = struct.unpack_from("<H", cubin, 16)[0]
    return (" ".join(sorted(n for n in names if "$" not in n)) or "nothing") + (" (relocatable)" if kind == 1 else "")


CASES = {}


def case(name):
    def keep(function):
        assert name not in CASES
        CASES[name] = function
        return function

    return keep


def creates(name, *options):
    def run(r):
        if r.create(*options):
            r.say("created")

    case("create: " + name)(run)


def links(name, options, *inputs):
    case(name)(lambda r: r.link(options, inputs))


both = ((PTX, "main"), (PTX, "lib"))

# The options of nvJitLinkCreate.
creates("no options")
creates("`-O3` alone", "-O3")
for options in ("-arch=sm_80", "-arch=compute_80", "-arch=80", "-arch=sm_XX", "-arch=", "-arch=sm_20", "-arch=sm_60", "-arch=sm_90a", "-arch=sm_999", "arch=sm_80", "--arch=sm_80", "-arch sm_80", "-arch=sm_80 -arch=sm_90", "-arch=compute_80 -lto", "-arch=compute_80 -lto -ptx",
                "-arch=sm_80 -nothing", "-arch=sm_80 nothing", "-arch=sm_80 -O1", "-arch=sm_80 -O2", "-arch=sm_80 -O4", "-arch=sm_80 -ptx", "-arch=sm_80 -lto -ptx", "-arch=sm_80 -maxrregcount=many", "-arch=sm_80 -maxrregcount",
                "-arch=sm_80 -ftz=maybe", "-arch=sm_80 -split-compile=many", "-arch=sm_80 -Ofc=never", "-arch=sm_80 -r -lto", "-arch=sm_80 -g -O3", "-arch=sm_80 -kernels-used"):
    creates("`%s`" % options, *options.split())


@case("create: an empty option")
def _(r):
    if r.create("-arch=sm_80", ""):
        r.say("created")


@case("create: NULL for the options")
def _(r):
    r.say("Create " + r.call("Create", ctypes.byref(r.handle), ctypes.c_uint32(1), None))


@case("create: NULL for the handle")
def _(r):
    r.say("Create " + r.call("Create", None, ctypes.c_uint32(1), (ctypes.c_char_p * 1)(b"-arch=sm_80")))


# What each option does to a link.
for option in ("-maxrregcount=32", "-time", "-verbose", "-lto", "-O0", "-O3", "-g", "-lineinfo", "-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fma=false", "-split-compile=2", "-split-compile-extended=2", "-jump-table-density=50",
               "-no-cache", "-device-stack-protector", "-device-stack-protector=true", "-Ofc=max", "-Ofc=mid", "-Xptxas=-v", "-Xptxas=--no-such-option", "-r"):
    links("link PTX: `%s`" % option, (option,), *both)
links("kernels k and k2: `-kernels-used=k`", ("-kernels-used=k",), (PTX, "two"))
links("kernels k and k2: `-kernels-used=k,k2`", ("-kernels-used=k,k2",), (PTX, "two"))
links("variable v unused: `-variables-used=v`", ("-variables-used=v",), (PTX, "unused variable"))
links("variable v unused: `-optimize-unused-variables`", ("-optimize-unused-variables",), (PTX, "unused variable"))
links("variable v unused: `-lto -optimize-unused-variables`", ("-lto", "-optimize-unused-variables"), (PTX, "unused variable"))
links("variable v unused", (), (PTX, "unused variable"))

# Inputs by type.
links("PTX", (), *both)
links("PTX with NUL", (), (PTX, "NUL"), (PTX, "lib"))
links("ANY: PTX", (), (ANY, "main"), (ANY, "lib"))
links("CUBIN", (), (CUBIN, "main.cubin"), (CUBIN, "lib.cubin"))
links("CUBIN: executable", (), (CUBIN, "executable"))
links("ANY: CUBIN", (), (ANY, "main.cubin"), (ANY, "lib.cubin"))
links("PTX and CUBIN", (), (PTX, "main"), (CUBIN, "lib.cubin"))
links("FATBIN of PTX", (), (FATBIN, "main fatbin of PTX"), (FATBIN, "lib fatbin of PTX"))
links("FATBIN of cubins", (), (FATBIN, "main fatbin of cubin"), (FATBIN, "lib fatbin of cubin"))
links("ANY: FATBIN", (), (ANY, "main fatbin of PTX"), (ANY, "lib fatbin of cubin"))
links("OBJECT of cubins", (), (OBJECT, "main object"), (OBJECT, "lib object"))
links("OBJECT of PTX", (), (OBJECT, "main object of PTX"), (OBJECT, "lib object of PTX"))
links("OBJECT without device code", (), (PTX, "one"), (OBJECT, "host object"))
links("ANY: OBJECT", (), (ANY, "main object"), (ANY, "lib object"))
for kind in ("objects", "objects of PTX", "PTX", "cubins"):
    links("LIBRARY of " + kind, (), (PTX, "main"), (LIBRARY, "library of " + kind))
links("LIBRARY without device code", (), (PTX, "one"), (LIBRARY, "library of host objects"))
links("LIBRARY before its user", (), (LIBRARY, "library of objects"), (PTX, "main"))
links("ANY: LIBRARY", (), (PTX, "main"), (ANY, "library of objects"))
links("LTOIR, `-lto`", ("-lto",), (LTOIR, "main LTO-IR"), (LTOIR, "lib LTO-IR"))
links("LTOIR without `-lto`", (), (LTOIR, "main LTO-IR"), (LTOIR, "lib LTO-IR"))
links("LTOIR and PTX, `-lto`", ("-lto",), (LTOIR, "main LTO-IR"), (PTX, "lib"))
links("ANY: LTOIR, `-lto`", ("-lto",), (ANY, "main LTO-IR"), (ANY, "lib LTO-IR"))
links("FATBIN of LTO-IR, `-lto`", ("-lto",), (FATBIN, "main fatbin of LTO-IR"), (FATBIN, "lib fatbin of LTO-IR"))
links("OBJECT of LTO-IR, `-lto`", ("-lto",), (OBJECT, "main object of LTO-IR"), (OBJECT, "lib object of LTO-IR"))
for kind, name in ((PTX, "one"), (CUBIN, "executable"), (OBJECT, "main object of PTX"), (PTX, "no such file"), (PTX, "/"), (ANY, "one")):

    def add_file(r, kind=kind, name=name):
        if r.create("-arch=sm_80") and r.add_file(kind, name) and (name.startswith("main") or r.complete()):
            r.say("added") if name.startswith("main") else r.cubin()
        r.log()

    case("AddFile: " + ("a directory" if name == "/" else "ANY, PTX" if kind == ANY else name))(add_file)

# Bad inputs.
for kind, names in ((PTX, "syntax unknown version target narrow nothing garbage main.cubin"), (CUBIN, "garbage truncated_cubin main main.cubin_of_sm_90"), (FATBIN, "garbage truncated_fatbin main.cubin"), (OBJECT, "garbage main.cubin main"),
                    (LIBRARY, "garbage truncated_library main.cubin"), (LTOIR, "garbage main.cubin"), (ANY, "garbage"), (NONE, "one"), (INDEX, "one"), (99, "one")):
    kinds = {NONE: "NONE", CUBIN: "CUBIN", PTX: "PTX", LTOIR: "LTOIR", FATBIN: "FATBIN", OBJECT: "OBJECT", LIBRARY: "LIBRARY", INDEX: "INDEX", ANY: "ANY", 99: "type 99"}
    said = {"syntax": "a syntax error", "unknown": "an unknown instruction", "version": "`.version 99.9`", "target": "`.target sm_90`", "narrow": "`.address_size 32`", "nothing": "no code", "main": "PTX", "one": "PTX", "main.cubin": "a cubin"}
    for name in (n.replace("_", " ") if "sm_" not in n else "main.cubin of sm_90" for n in names.split()):
        links("bad %s: %s" % (kinds[kind], said.get(name, name)), ("-lto",) if kind == LTOIR else (), (kind, name))


@case("AddData: NULL")
def _(r):
    r.create("-arch=sm_80")
    r.say("AddData " + r.call("AddData", r.handle, PTX, None, ctypes.c_size_t(3), b"a"))


@case("AddData: no bytes")
def _(r):
    r.create("-arch=sm_80")
    r.say("AddData " + r.call("AddData", r.handle, PTX, b"x", ctypes.c_size_t(0), b"a"))


@case("AddData: no name")
def _(r):
    r.create("-arch=sm_80")
    data = r.data["one"]
    r.say("AddData " + r.call("AddData", r.handle, PTX, data, ctypes.c_size_t(len(data)), None))
    r.complete() and r.cubin()


@case("AddFile: NULL")
def _(r):
    r.create("-arch=sm_80")
    r.say("AddFile " + r.call("AddFile", r.handle, PTX, None))


# Symbols.
links("undefined function", (), (PTX, "main"))
links("two definitions that differ", (), *both, (PTX, "other"))
links("two definitions that differ, cubins", (), (CUBIN, "main.cubin"), (CUBIN, "lib.cubin"), (CUBIN, "other.cubin"))
links("two equal definitions", (), *both, (PTX, "lib"))
links("a weak definition and another", (), (PTX, "main"), (PTX, "weak"), (PTX, "lib"))
links("a parameter of another size", (), (PTX, "main"), (PTX, "large"))
links("an aggregate of another alignment", (), (PTX, "caller of 4"), (PTX, "callee of 16"))
links("a variable of another size", (), (PTX, "variable of 8"), (PTX, "variable of 4"))
links("no kernel", (), (PTX, "lib"))


# The order of calls.
@case("Complete: no inputs")
def _(r):
    r.link((), ())


@case("Complete twice")
def _(r):
    r.link((), both)
    r.say("again: " + r.call("Complete", r.handle))


@case("Complete after a failed AddData")
def _(r):
    r.create("-arch=sm_80"), r.add(PTX, "syntax")
    r.complete() and r.cubin()


@case("Complete after a failed Complete")
def _(r):
    r.link((), [(PTX, "main")])
    r.say("again: " + r.call("Complete", r.handle))


@case("AddData after a failed AddData")
def _(r):
    r.create("-arch=sm_80"), r.add(PTX, "syntax"), r.add(PTX, "one")
    r.complete() and r.cubin()


@case("AddData after Complete")
def _(r):
    r.link((), both)
    r.add(PTX, "one") and r.say("added")


@case("cubin before Complete")
def _(r):
    r.create("-arch=sm_80"), r.add(PTX, "one")
    r.cubin()


@case("cubin after a failed Complete")
def _(r):
    r.create("-arch=sm_80"), r.add(PTX, "main"), r.complete()
    r.cubin()


@case("PTX of PTX")
def _(r):
    r.link((), both)
    ptx = r.get("LinkedPtx")
    r.say("PTX of k" if isinstance(ptx, bytes) and b".entry k" in ptx else "no PTX" + (": " + ptx if isinstance(ptx, str) else ""))


for option in ((), ("-ptx",)):

    def ptx_of_lto(r, option=option):
        r.create("-arch=sm_80", "-lto", *option), r.add(LTOIR, "main LTO-IR"), r.add(LTOIR, "lib LTO-IR"), r.complete()
        ptx = r.get("LinkedPtx")
        r.say("PTX of k" if isinstance(ptx, bytes) and b".entry k" in ptx else "no PTX" + (": " + ptx if isinstance(ptx, str) else ""))
        r.cubin()

    case("PTX of LTOIR, `%s`" % " ".join(("-lto",) + option))(ptx_of_lto)


@case("logs before a link")
def _(r):
    r.create("-arch=sm_80")
    for what in ("ErrorLog", "InfoLog"):
        text = r.get(what)
        r.say("%s %s" % (what, "empty" if text in (b"", b"\0") else text))


@case("error log after a failed Create")
def _(r):
    r.create("-arch=sm_80", "-nothing")
    text = r.get("ErrorLog") if r.handle else b""
    r.say("names the option" if isinstance(text, bytes) and b"-nothing" in text else "no text")


@case("Destroy twice")
def _(r):
    r.create("-arch=sm_80")
    r.say("Destroy " + r.call("Destroy", ctypes.byref(r.handle)))
    r.say("handle " + ("kept" if r.handle else "NULL"))
    if not r.handle:
        r.say("Destroy " + r.call("Destroy", ctypes.byref(r.handle)))


for function in ("Destroy", "Complete", "GetLinkedCubinSize", "GetErrorLogSize", "Version"):

    def null(r, function=function):
        r.say(function + " " + r.call(function, None, None))

    case(function + "(NULL)")(null)


@case("GetErrorLogSize: NULL for the size")
def _(r):
    r.create("-arch=sm_80")
    r.say(r.call("GetErrorLogSize", r.handle, None))


def outcome(library, column, data, name):
    """Runs a case in a process of its own, as some of them crash the library."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(60)
        r = Run(library, column, data)
        try:
            CASES[name](r)
            os.write(into, "; ".join(r.said).encode())
        except BaseException as error:
            os.write(into, ("; ".join(r.said) + repr(error)).encode())
        os._exit(0)
    os.close(into)
    with open(out, "rb") as f:
        said = f.read().decode()
    status = os.waitpid(child, 0)[1]
    return "crash" if status and not said else said


def read_page():
    """Returns the lines before the table, and the outcomes by case and column."""
    with open(PAGE) as f:
        before, _, table = f.read().partition("|---|")
    rows = {}
    for line in table.splitlines()[1:]:
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if len(cells) > len(COLUMNS):
            rows[cells[0]] = dict(zip(COLUMNS, cells[1:]))
    return before, rows


def main(args):
    update = "--update" in args
    before, rows = read_page()
    directory = tempfile.TemporaryDirectory()
    os.chdir(directory.name)
    data, faults = make_inputs(), []
    for arg in args:
        column, _, library = arg.partition("=")
        if not library:
            continue
        for name in CASES:
            said = outcome(library, column, data, name)
            row = rows.setdefault(name, {})
            if update:
                row[column] = said
            elif row.get(column) != said:
                faults.append("%s, %s: %s, and the page says %s" % (column, name, said, row.get(column)))
    lines = []
    for name in CASES:
        row = rows.get(name, {})
        differs = any(row.get(here) != row.get(there) for here, there in (("here 12", "12.9"), ("here 13", "13.5")))
        if differs != (name in WHY):
            faults.append("%s: %s" % (name, "differs without a reason in WHY" if differs else "has a reason in WHY, and does not differ"))
        lines.append("| " + " | ".join([name] + [row.get(c, "?") for c in COLUMNS] + [WHY.get(name, "")]) + " |\n")
    faults += ["%s is not a case" % name for name in list(WHY) + list(rows) if name not in CASES and not (update and name in rows)]
    if update:
        with open(PAGE, "w") as f:
            f.write(before + "|---|" + "---|" * (len(COLUMNS) + 1) + "\n" + "".join(lines))
    print("%d cases, %d differ" % (len(CASES), len(WHY)))
    if faults:
        sys.exit("\n".join(faults))


# Why a case differs from NVIDIA's 12.9 or 13.5.
GPU = "whether there is such a GPU is for ptxas to say, in nvJitLinkComplete"
RELEASE = "here as in 13.5"
LTO_LOG = "13.5 prints what ptxas -v does"
LATER = "what only ptxas or nvlink finds is an error of nvJitLinkComplete"
LOST = "NVIDIA's links a cubin without the code of the input"
TWO = "NVIDIA's takes the first"
ALONE = "an input that was refused is not left out of the program"
WHY = {
    "create: `-arch=sm_20`": GPU,
    "create: `-arch=sm_60`": GPU,
    "create: `-arch=sm_999`": GPU,
    "create: `-arch=sm_80 -ptx`": "PTX is linked to PTX",
    "create: `-arch=sm_80 -r -lto`": RELEASE,
    "create: `-arch=sm_80 -g -O3`": "`-g` has no effect",
    "link PTX: `-lto`": "NVIDIA's needs LTO-IR",
    "link PTX: `-g`": "`-g` has no effect",
    "link PTX: `-Xptxas=--no-such-option`": LATER,
    "link PTX: `-r`": RELEASE,
    "kernels k and k2: `-kernels-used=k,k2`": "a warning that no kernel has this name",
    "variable v unused: `-variables-used=v`": "NVIDIA's removes the kernels",
    "variable v unused: `-lto -optimize-unused-variables`": "NVIDIA's needs LTO-IR",
    "CUBIN: executable": LOST,
    "AddFile: executable": LOST,
    "LIBRARY of PTX": "NVIDIA's ignores PTX in libraries",
    "LIBRARY of cubins": "NVIDIA's ignores cubins in libraries",
    "LTOIR, `-lto`": LTO_LOG,
    "LTOIR without `-lto`": "nvlink compiles LTO-IR in any case",
    "LTOIR and PTX, `-lto`": LTO_LOG,
    "ANY: LTOIR, `-lto`": LTO_LOG,
    "FATBIN of LTO-IR, `-lto`": LTO_LOG,
    "OBJECT of LTO-IR, `-lto`": LTO_LOG,
    "bad PTX: an unknown instruction": LATER,
    "bad PTX: `.version 99.9`": LATER,
    "bad PTX: `.address_size 32`": "ptxas compiles for 64 bits only",
    "bad CUBIN: truncated cubin": LATER,
    "bad CUBIN: main.cubin of sm_90": LATER,
    "bad FATBIN: truncated fatbin": "NVIDIA's reads beyond the end",
    "bad OBJECT: a cubin": LOST,
    "bad LIBRARY: truncated library": LATER,
    "AddData: NULL": "12.9 crashes",
    "two definitions that differ": TWO,
    "two definitions that differ, cubins": TWO,
    "two equal definitions": TWO,
    "a parameter of another size": "NVIDIA's links a call that passes other registers",
    "an aggregate of another alignment": "NVIDIA's links a call that passes other registers",
    "a variable of another size": "NVIDIA's links code that writes beyond the variable",
    "Complete after a failed AddData": ALONE,
    "AddData after a failed AddData": ALONE,
    "AddData after Complete": "12.9 crashes",
    "cubin after a failed Complete": "NVIDIA's returns one with an undefined function",
    "PTX of PTX": "always there",
    "PTX of LTOIR, `-lto`": "always there",
}

if __name__ == "__main__":
    main(sys.argv[1:])
