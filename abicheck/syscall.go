package abicheck

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// driverPrototypes lists the system calls as in PTX Interoperability 3. P is an
// address and Z a size_t: .b32 or .b64, by the address size of the module. The
// results of vprintf and the pointer of malloc have .b types there and elsewhere.
const driverPrototypes = `
.extern .func (.param .b32 status) vprintf (.param P format, .param P valist);
.extern .func (.param P ptr) malloc (.param Z size);
.extern .func free (.param P ptr);
.extern .func __assertfail (.param P message, .param P file, .param .b32 line, .param P function, .param Z charSize);
`

var inDriver = []string{"vprintf", "malloc", "free", "__assertfail"}

// SystemCalls compares the declarations of the driver's functions with the driver's
// definitions. ptxas accepts any prototype, and the call then passes garbage. A
// module that defines such a function itself may choose its prototype.
func SystemCalls(t *resolve.Table, addressSize int, log *diag.Log) {
	if !slices.ContainsFunc(inDriver, func(name string) bool {
		s, ok := t.Lookup(name)
		return ok && s.Open
	}) {
		return
	}
	word := fmt.Sprintf(".b%d", addressSize)
	text := ".version 7.0 .target sm_50 .address_size 64" + strings.NewReplacer(" P ", " "+word+" ", " Z ", " "+word+" ").Replace(driverPrototypes)
	driver, err := ptx.Parse(&diag.Source{Name: "driver", Text: []byte(text)})
	if err != nil {
		panic(err)
	}
	for i := range driver.Decls {
		def := &driver.Decls[i]
		s, ok := t.Lookup(driver.Names[def.Name])
		if !ok || !s.Open {
			continue
		}
		var declared []side
		for _, id := range s.Mentions {
			f := t.Files[id.File]
			if d := f.DeclOf(id.Name); d != nil && d.Kind == ptx.Func {
				declared = append(declared, side{f, d})
			}
		}
		results := def.Signature.Results
		if s.Name == "vprintf" && !slices.ContainsFunc(declared, func(a side) bool { return len(a.decl.Signature.Results) > 0 }) {
			// Taichi declares it so. No caller keeps a value in the register of the result.
			// The output has one declaration, so all modules must agree.
			results = nil
		}
		for _, a := range declared {
			systemCall(a, s.Name, results, def.Signature.Params, log)
		}
	}
}

func systemCall(a side, name string, results, params []ptx.Type, log *diag.Log) {
	help, count := "a system call is declared as PTX Interoperability 3 has it", len(a.decl.Signature.Results)
	for n, list := range []struct {
		verb, what string
		x, y       []ptx.Type
	}{{"returns", "result", a.decl.Signature.Results, results}, {"takes", "parameter", a.decl.Signature.Params, params}} {
		if len(list.x) != len(list.y) {
			log.Error(diag.SystemCall, a.at(a.decl.NameSpan), fmt.Sprintf("%s has %s here but %s in the driver", name, Plural(len(list.x), list.what), Plural(len(list.y), list.what))).
				WithHelp(help)
			return
		}
		for i, x := range list.x {
			if d := Difference(x, list.y[i]); d != "" {
				at := n*count + i
				log.Error(diag.SystemCall, a.at(a.file.Params(a.decl)[at].Span), fmt.Sprintf("%s %s %s here but %s in the driver", name, list.verb, Describe(x), Describe(list.y[i]))).
					WithHelp(fmt.Sprintf("%s differs in %s; %s", numbered(at, count), d, help))
			}
		}
	}
}
