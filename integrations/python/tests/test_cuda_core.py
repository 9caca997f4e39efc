import os
import pathlib
import unittest

try:
    from cuda.core import LinkerOptions, ObjectCode
except ImportError:
    raise unittest.SkipTest("no cuda.core")

import ptxlink
from ptxlink.cuda_core import Linker

EXAMPLE = pathlib.Path(os.environ["PTXLINK_EXAMPLE"])
MAIN = ObjectCode.from_ptx((EXAMPLE / "main.ptx").read_bytes(), name="main")
LIB = ObjectCode.from_ptx((EXAMPLE / "lib.ptx").read_bytes(), name="main")


class CudaCore(unittest.TestCase):
    def test_link(self):
        linker = Linker(MAIN, LIB, options=LinkerOptions(arch="sm_80", name="both"))
        ptx = linker.link("ptx")
        self.assertIn(b".visible .entry k_main", ptx.code)
        self.assertEqual((ptx.code_type, ptx.name), ("ptx", "both"))
        self.assertEqual((linker.get_error_log(), linker.get_info_log(), linker.backend, Linker.which_backend()), ("", "", "ptxlink", "ptxlink"))
        os.environ["PTXAS"] = os.environ["PTXLINK_PTXAS"]
        for options in ({}, {"max_register_count": 32}, {"optimization_level": 0}, {"debug": True, "lineinfo": True}, {"ptxas_options": ["-v", "--verbose"]}, {"kernels_used": "k_main"}, {"kernels_used": ["nothing"]}, {"optimize_unused_variables": True}):
            cubin = Linker(MAIN, LIB, options=LinkerOptions(arch="sm_80", **options), optimize=1).link("cubin")
            self.assertEqual((cubin.code[:4], cubin.code_type), (b"\x7fELF", "cubin"), options)

    def test_errors(self):
        linker = Linker(MAIN, options=LinkerOptions(arch="sm_80"))
        with self.assertRaises(ptxlink.LinkError):
            linker.link("ptx")
        self.assertIn("undefined symbol", linker.get_error_log())
        with self.assertRaises(ValueError):
            linker.link("fatbin")
        linker.close()
        self.assertTrue(linker.is_closed)
        with self.assertRaises(RuntimeError):
            linker.link("ptx")
        with self.assertRaises(TypeError):
            Linker(b"text")
        with self.assertRaises(TypeError):
            Linker(MAIN, options=["arch=sm_80"])
        self.assertIn(b"k_main", Linker(MAIN, LIB, options={"arch": "sm_80"}).link("ptx").code)
        with self.assertRaises(ValueError):
            Linker()


if __name__ == "__main__":
    unittest.main()
