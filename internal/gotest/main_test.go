package main

import (
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

func TestMain(m *testing.M) { oracles.Main(m) }

func TestReport(t *testing.T) {
	const events = `{"Action":"output","Package":"ptxlink/a","Test":"TestPasses","Output":"=== RUN   TestPasses\n"}
{"Action":"output","Package":"ptxlink/a","Test":"TestPasses","Output":"    a_test.go:1: unseen\n"}
{"Action":"pass","Package":"ptxlink/a","Test":"TestPasses"}
{"Action":"output","Package":"ptxlink/a","Test":"TestFails","Output":"=== RUN   TestFails\n"}
{"Action":"output","Package":"ptxlink/a","Test":"TestSkips/b","Output":"    a_test.go:2: logged\n"}
{"Action":"output","Package":"ptxlink/a","Test":"TestSkips/b","Output":"    a_test.go:3: no nvlink\n"}
{"Action":"output","Package":"ptxlink/a","Test":"TestSkips/b","Output":"    testscript.go:609: WORK=$WORK\n"}
{"Action":"output","Package":"ptxlink/a","Test":"TestFails","Output":"    a_test.go:4: wrong\n"}
{"Action":"skip","Package":"ptxlink/a","Test":"TestSkips/b"}
{"Action":"output","Package":"ptxlink/a","Test":"TestFails","Output":"--- FAIL: TestFails (0.00s)\n"}
{"Action":"fail","Package":"ptxlink/a","Test":"TestFails"}
{"Action":"output","Package":"ptxlink/a","Test":"TestHangs","Output":"    a_test.go:5: waits\n"}
{"Action":"output","Package":"ptxlink/a","Output":"FAIL\tptxlink/a\t0.1s\n"}
{"Action":"fail","Package":"ptxlink/a"}
{"Action":"output","Package":"ptxlink/b","Output":"PASS\n"}
{"Action":"output","Package":"ptxlink/b","Output":"ok  \tptxlink/b\t0.1s\n"}
{"Action":"pass","Package":"ptxlink/b"}
{"Action":"output","Package":"ptxlink/c","Test":"TestC","Output":"    c_test.go:1: no nvlink\n"}
{"Action":"skip","Package":"ptxlink/c","Test":"TestC"}
{"Action":"skip","Package":"ptxlink/d"}
{"Action":"build-output","ImportPath":"ptxlink/e","Output":"e.go:1: wrong\n"}
`
	const want = `    a_test.go:4: wrong
--- FAIL: TestFails (0.00s)
FAIL	ptxlink/a	0.1s
    a_test.go:5: waits
ok  	ptxlink/b	0.1s
e.go:1: wrong
skipped: no nvlink
	a TestSkips/b
	c TestC
`
	var out strings.Builder
	skipped, err := report(&out, strings.NewReader(events))
	if out.String() != want || !skipped || err != nil {
		t.Errorf("%v, %v\n%s", skipped, err, &out)
	}
}
