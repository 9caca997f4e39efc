package link_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestImports checks that packages import each other only in the direction that
// DESIGN.md gives.
func TestImports(t *testing.T) {
	allowed := map[string]string{
		"ptxlink/internal/bridge":       "internal/diag",
		"ptxlink/internal/diag":         "",
		"ptxlink/internal/differential": "internal/oracles link",
		"ptxlink/internal/equivalence":  "internal/diag internal/oracles internal/ptxsim internal/ptxsim/kernels link link/partition object/ptx",
		"ptxlink/internal/hashed":       "",
		"ptxlink/internal/mapped":       "internal/parallel",
		"ptxlink/internal/gotest":       "internal/oracles",
		"ptxlink/internal/infile":       "internal/room",
		"ptxlink/internal/oracles":      "",
		"ptxlink/internal/parallel":     "",
		"ptxlink/internal/ptxsim":       "internal/diag object/ptx",
		"ptxlink/internal/release/zip":  "",
		"ptxlink/internal/room":         "",
		"ptxlink/internal/srcline":      "internal/diag object/ptx",
		"ptxlink/internal/tool":         "internal/infile",
		"ptxlink/internal/typo":         "",
		"ptxlink/internal/outfile":      "internal/diag internal/infile",
		"ptxlink/object/ptx":            "internal/diag internal/hashed",
		"ptxlink/object/container":      "internal/diag internal/hashed internal/infile internal/room",
		"ptxlink/object":                "internal/diag internal/hashed internal/infile internal/mapped internal/parallel internal/room internal/typo object/ptx object/container",
		"ptxlink/resolve":               "internal/diag internal/hashed internal/parallel internal/typo object object/ptx",
		"ptxlink/abicheck":              "internal/diag object object/ptx resolve abicheck/ctype",
		"ptxlink/abicheck/atomics":      "internal/diag object object/ptx resolve",
		"ptxlink/abicheck/ctype":        "internal/diag",
		"ptxlink/abicheck/dwarftypes":   "internal/diag object object/ptx resolve",
		"ptxlink/link/partition":        "internal/diag object/ptx",
		"ptxlink/link/ptxas":            "internal/bridge internal/diag internal/infile internal/outfile internal/parallel internal/room internal/srcline internal/tool object/ptx link link/partition",
		"ptxlink/link/libdevice":        "internal/bridge internal/diag internal/infile internal/outfile internal/tool link link/ptxas",
		"ptxlink/link/debuginfo":        "internal/diag internal/parallel object object/ptx",
		"ptxlink/link/dlink":            "internal/bridge internal/diag internal/infile internal/mapped link object object/container object/ptx",
		"ptxlink/link/optimize":         "internal/diag object/ptx",
		"ptxlink/link":                  "internal/bridge internal/diag internal/infile internal/mapped internal/parallel internal/room internal/srcline object object/ptx object/container resolve abicheck abicheck/atomics abicheck/dwarftypes link/debuginfo link/optimize",
		"ptxlink/link/pack":             "internal/bridge internal/diag link object object/ptx object/container resolve",
		"ptxlink/link/report":           "link link/ptxas",
		"ptxlink/cmd/ptxlink":           "internal/bridge internal/diag internal/infile internal/mapped internal/outfile internal/room internal/tool internal/typo abicheck/ctype link link/pack link/dlink link/partition link/ptxas link/report link/libdevice",
		"ptxlink/bench":                 "bench/gen internal/oracles",
		"ptxlink/bench/codegen":         "bench/machine internal/oracles",
		"ptxlink/bench/gen":             "",
		"ptxlink/bench/machine":         "",
		"ptxlink/bench/real":            "bench/machine internal/oracles",
		"ptxlink/bench/route":           "bench/gen internal/oracles",
		"ptxlink/integrations":          "",
		"ptxlink/docs":                  "",

		"ptxlink/internal/ptxsim/kernels":  "internal/ptxsim object/ptx",
		"ptxlink/internal/ptxsim/simulate": "internal/oracles internal/ptxsim internal/ptxsim/kernels",
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "ptxlink/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); packages++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		may, known := allowed[p.ImportPath]
		if !known {
			t.Errorf("%s is not in DESIGN.md's table of directories", p.ImportPath)
		}
		for _, imported := range p.Imports {
			short, ours := strings.CutPrefix(imported, "ptxlink/")
			if ours && !strings.Contains(" "+may+" ", " "+short+" ") {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
	if packages < len(allowed) {
		t.Errorf("go list shows %d packages, %d expected", packages, len(allowed))
	}
}

// TestNoCgo checks that nothing brings the C library into the program: it would take
// longer to start and need more memory.
func TestNoCgo(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "ptxlink/cmd/ptxlink").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		switch name {
		case "runtime/cgo", "os/user", "net":
			t.Errorf("ptxlink depends on %s", name)
		}
	}
}
