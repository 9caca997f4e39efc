package abicheck

import (
	"math/rand"
	"strconv"
	"strings"
	"testing"
)

// TestPlainCxx compares plainCxx with the demangler on random names, half of them
// damaged. Substitutions refer to what earlier types added, or to nothing.
func TestPlainCxx(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	source := func() string { return pick("1f", "3foo", "5State", "10helper_one", "2S_") }
	var parameter func(depth int) string
	parameter = func(depth int) string {
		switch n := r.Intn(10); {
		case n < 4 || depth > 3:
			return pick("i", "f", "d", "j", "m", "l", "x", "y", "c", "b", "h", "s", "t", "a", "w", "n", "e", "v", "z")
		case n < 7:
			return pick("P", "PK", "R", "RK", "O", "PVK", "PV") + parameter(depth+1)
		case n == 7:
			return pick("N", "PN", "PKN") + pick("S_", "S0_", "S1_", "", "", "St") + source() + pick("", source()) + "E"
		case n < 9:
			return pick("S_", "S0_", "S1_", "S2_", "S3_", "S4_", "S9_", "SA_", "St", "Ss")
		}
		return source()
	}
	read, unsures := 0, 0
	for range 200000 {
		var b strings.Builder
		b.WriteString("_Z")
		if r.Intn(3) == 0 {
			b.WriteString("N" + pick("", "", "", "K", "St"))
			for range 1 + r.Intn(3) {
				b.WriteString(source())
			}
			b.WriteString(pick("", "", "", "C1", "D0", "IiE") + "E")
		} else {
			b.WriteString(source() + pick("", "", "", "", "", "IiEv", "B2v1"))
		}
		if r.Intn(8) == 0 {
			b.WriteString("v")
		}
		for range r.Intn(6) {
			b.WriteString(parameter(0))
		}
		name := b.String()
		if r.Intn(2) == 0 {
			at := 2 + r.Intn(len(name)-2)
			name = name[:at] + pick("", "_", "E", "S", "I", "9", "v", ".1", "$") + name[min(len(name), at+r.Intn(2)):]
		}
		params, found := plainCxx(name, nil)
		sig, ok := parseCxx(name)
		switch found {
		case notPlain:
			continue
		case unsure:
			if ok {
				t.Errorf("%s: unsure, but the demangler has %d parameters", name, len(sig.params))
			}
			unsures++
			continue
		}
		read++
		if !ok || sig.this != 0 || len(sig.params) != len(params) {
			t.Errorf("%s: %d parameters, %d by the demangler (%t)", name, len(params), len(sig.params), ok)
			continue
		}
		for i, p := range sig.params {
			if p.of = nil; p != params[i] {
				t.Errorf("%s: parameter %s is %+v, %+v by the demangler", name, strconv.Itoa(i+1), params[i], p)
			}
		}
	}
	if read < 10000 || unsures < 10000 {
		t.Errorf("only %d names are plain, and %d unsure", read, unsures)
	}
	if _, found := plainCxx("_Z3axpifPKfPfS_", nil); found != notPlain { // S_ is float const
		t.Error("the pointee of a constant pointer is taken for a parameter")
	}
}
