package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/object/diag"
)

// write returns the page of a report.
func write(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile is a report whose names try to leave their place.
func hostile(t *testing.T) Report {
	name := `</script><script>document.title="broken"</script><b onmouseover=x>&amp;`
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k () { ret; }\n")}}})
	if err != nil {
		t.Fatal(err)
	}
	m := MapOf(r)
	m.Inputs = []MapInput{{Module: link.Module{Name: name}}}
	m.Symbols = []MapSymbol{{Name: name, Kind: "func", Module: name, Bytes: 10}}
	m.Messages = MapMessages([]*link.Message{{Kind: diag.Warning, Text: name, Place: diag.InFile(name, 3, 0)}}, diag.Spelling{})
	return Report{Title: name, Map: m}
}

func TestWrite(t *testing.T) {
	page := write(t, hostile(t))
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d script elements", n)
	}
	if strings.Contains(page, "<b onmouseover") || strings.Contains(page, "@TITLE@") || strings.Contains(page, "@DATA@") {
		t.Error("a name is not escaped, or a place was not filled")
	}
	for _, address := range regexp.MustCompile(`(?i)(https?:)?//[a-z][a-z0-9.]+`).FindAllString(page, -1) {
		if address != "http://www.w3.org" { // the name of SVG
			t.Errorf("the page names %s", address)
		}
	}
	if page != write(t, hostile(t)) {
		t.Error("two pages differ")
	}
	data := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(page)
	var back Map
	if err := json.Unmarshal([]byte(data[1]), &back); err != nil || back.Symbols[0].Name != hostile(t).Map.Symbols[0].Name {
		t.Errorf("the data is not what was written: %v", err)
	}
}

// large returns the report of a program of 50 modules.
func large(t *testing.T) Report {
	const top = ".version 7.8\n.target sm_75\n.address_size 64\n"
	var o link.Options
	main := top
	calls := ""
	for i := range 50 {
		name := fmt.Sprintf("_Z3f%02di", i)
		main += ".extern .func " + name + " ();\n"
		calls += "call " + name + ";\n"
		text := top + fmt.Sprintf(".visible .global .u32 data%d[%d];\n.global .u32 counter;\n.visible .func %s () {\n.reg .b32 %%r<4>;\n", i, i*i+1, name)
		for range i * 3 {
			text += "add.s32 %r1, %r2, %r3;\n"
		}
		text += fmt.Sprintf("st.global.u32 [counter], %%r1;\nst.global.u32 [data%d], %%r1;\nret;\n}\n", i)
		o.Inputs = append(o.Inputs, link.Input{Name: fmt.Sprintf("/build/program/modules/m%02d.ptx", i), Text: []byte(text)})
	}
	main += ".visible .entry k () {\n" + calls + "ret;\n}\n"
	o.Inputs = append(o.Inputs, link.Input{Name: "/build/program/main.ptx", Text: []byte(main)})
	o.Verbose = true
	r, err := link.Link(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	m := MapOf(r)
	m.GPUs = []GPU{{Arch: "sm_80", Usages: []Usage{{Name: "k", Kernel: true, Registers: 24, Stack: -1, Code: 512, Spills: &Spills{Stores: 2, Loads: 4}}, {Name: "_Z3f03i", Demangled: "f03(int)", Registers: 8, Spills: &Spills{Loads: 8}}}}}
	return Report{Title: "app.cubin", Map: m}
}

// small returns the report of a program of two modules.
func small(t *testing.T) Report {
	const top = ".version 7.8\n.target sm_75\n.address_size 64\n"
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{
		{Name: "a.ptx", Text: []byte(top + ".extern .func f ();\n.visible .entry k () { call f; ret; }\n")},
		{Name: "b.ptx", Text: []byte(top + ".visible .const .u32 table[4];\n.visible .func f () { ret; }\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := MapOf(r)
	at := func(file string, line int) link.Place { return diag.InFile(file, line, 0) }
	m.Messages = MapMessages([]*link.Message{{Kind: diag.Warning, Text: "w", Place: at("a.ptx", 3), Notes: []diag.Remark{{Place: at("a.cu", 7), Text: "source line, in k"}}}}, diag.Spelling{})
	return Report{Title: "small.ptx", Map: m}
}

// failed returns the report of a link without output.
func failed() Report {
	m := NewMap()
	m.Messages = MapMessages([]*link.Message{{Kind: diag.Error, ID: "undefined-symbol", Text: "undefined symbol: f"}, {Kind: diag.Warning, Text: "w"}}, diag.Spelling{})
	return Report{Title: "app.ptx", Map: m, Failed: true}
}

// drive opens a page in a browser, runs a script in it, and returns what the script
// gives to say.
func drive(t *testing.T, width int, page, fragment, script string) string {
	t.Helper()
	browser := oracles.RequireCompiler(t, "chromium")
	page = strings.Replace(page, "</body>", `<pre id="said"></pre><script>
const said = [];
const say = text => said.push(text);
const wait = () => new Promise(done => setTimeout(done, 20));
const type = text => { const input = main.querySelector("input[type=search]"); input.value = text; input.dispatchEvent(new Event("input")); };
(async () => {
	try { `+script+` } catch (e) { say("failed: " + e); }
	document.getElementById("said").textContent = said.join("|");
})();
</script></body>`, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", fmt.Sprintf("--window-size=%d,900", width), "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+path+fragment)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := regexp.MustCompile(`(?s)<pre id="said">(.*?)</pre>`).FindSubmatch(out)
	if text == nil {
		t.Fatalf("the page did not load:\n%.2000s", out)
	}
	return string(text[1])
}

// deep returns the report of a program of 2,000 functions, each of which calls the next
// five: the number of paths has hundreds of digits.
func deep(t *testing.T) Report {
	r := large(t)
	m := r.Map
	m.Symbols, m.Calls = nil, nil
	for i := range 2000 {
		kind := "func"
		if i < 50 {
			kind = "entry"
		}
		m.Symbols = append(m.Symbols, MapSymbol{Name: fmt.Sprintf("f%d_", i), Kind: kind, Linkage: "visible", Bytes: 100, Module: "m.ptx", Line: i})
		for k := 1; k <= 5 && i+k < 2000; k++ {
			m.Calls = append(m.Calls, MapCall{From: fmt.Sprintf("f%d_", i), To: fmt.Sprintf("f%d_", i+k), Calls: 1})
		}
	}
	m.Calls = append(m.Calls, MapCall{From: "f1999_", To: "f1000_", Calls: 1}) // recursion
	return Report{Title: "deep.ptx", Map: m}
}

// dropped returns the report of a link that drops copies of a template in a header.
func dropped(t *testing.T) Report {
	r := small(t)
	for i := range 9 {
		r.Map.Dropped = append(r.Map.Dropped, MapSymbol{
			Name: "_Z11interpolateIfET_PKS0_S0_i", Demangled: "float interpolate<float>(float const*, float, int)", Kind: "func", Linkage: "weak", Bytes: 605,
			Module: fmt.Sprintf("build/unit%d.ptx", i), Line: 90, Source: "src/common_header.h", SourceLine: 147, Reason: "the weak definition in build/unit00.ptx is used",
		})
	}
	return r
}

func TestInBrowser(t *testing.T) {
	oracles.Long(t)
	program := write(t, large(t))
	for _, c := range []struct{ name, page, fragment, script, want string }{
		{"the first part has two maps of 51 and 50 modules, and one space as bars", program, "",
			`const maps = document.querySelectorAll("main > svg"); say(maps.length); say(maps[0].querySelectorAll("rect").length); say(maps[2].querySelectorAll("rect").length);`, "3|51|50"},
		{"no text of a treemap is wider than its box", program, "",
			`const texts = [...document.querySelectorAll("svg svg text")]; say(texts.length > 20); say(texts.filter(t => t.getBBox().width + 4 > t.parentNode.width.baseVal.value).map(t => t.textContent));`, "true|"},
		{"names have room in the widest table", write(t, dropped(t)), "#changes",
			`say(document.documentElement.scrollWidth <= innerWidth); say(main.querySelector("tbody td.name").offsetWidth >= 90); say(getComputedStyle(main.querySelector("thead").querySelectorAll("th")[4]).display === (innerWidth < 640 ? "none" : "table-cell"));`, "true|true|true"},
		{"a small program has bars, no treemap", write(t, small(t)), "",
			`say(document.querySelectorAll("svg").length); say([...document.querySelectorAll(".bars a")].map(a => a.textContent)); say(main.offsetHeight < 400);`, "0|a.ptx,b.ptx,table|true"},
		{"a source line is before the place in PTX", write(t, small(t)), "#messages", `say([...main.querySelectorAll(".message .name")].map(n => n.textContent));`, "a.cu:7,a.ptx:3"},
		{"no table is wider than the window, and a narrow one lacks what matters less", write(t, small(t)), "#symbols",
			`say(document.documentElement.scrollWidth <= innerWidth); say(getComputedStyle(main.querySelector("th.minor")).display === (innerWidth < 640 ? "none" : "table-cell"));`, "true|true"},
		{"a click on a module opens it, and one on a symbol leads to the table", program, "",
			`const rect = [...document.querySelectorAll("svg a")].find(a => a.textContent.includes("m49.ptx")); location.hash = rect.getAttribute("href"); await wait();
			const opened = document.querySelectorAll(".bars")[1].querySelectorAll("a"); say(opened.length); location.hash = opened[0].getAttribute("href"); await wait();
			say(document.querySelector("nav a[aria-current]").textContent.split(" ")[0]); say(main.querySelectorAll("tbody tr").length);`, "1|Symbols|1"},
		{"the search of symbols filters, and keeps its state in the address", program, "#symbols",
			`const all = main.querySelectorAll("tbody tr").length; type("f49"); await wait(); say(all > 100); say(main.querySelectorAll("tbody tr").length); say(location.hash); say(document.activeElement.type);`, "true|1|#symbols?q=f49|search"},
		{"a search finds demangled names", program, "#symbols?q=f07(int)", `say(main.querySelectorAll("tbody tr").length);`, "1"},
		{"kinds filter too", program, "#symbols?kind=entry", `say(document.getElementById("count").textContent.split(" ")[0]);`, "1"},
		{"the largest symbol is first, and a click sorts up", program, "#symbols?kind=func",
			`const names = () => main.querySelector("tbody tr td:nth-child(6)").textContent; const press = () => [...main.querySelectorAll("th button")].find(b => b.textContent.startsWith("bytes")).click();
			say(names()); press(); await wait(); say(names()); press(); await wait(); say(names());`, "f49(int)|f00(int)|f49(int)"},
		{"the tree of calls opens at the entry and folds", program, "#calls",
			`const d = main.querySelector("details"); say(d.open); say(main.querySelectorAll("#tree .leaf").length); d.querySelector("summary").click(); await wait(); say(main.querySelector("details").open);`, "true|50|false"},
		{"a search in the tree", program, "#calls?q=f12", `say(main.querySelectorAll("mark").length);`, "1"},
		{"a search in a deep tree opens one shortest path to each match", write(t, deep(t)), "#calls",
			`const open = () => [...main.querySelectorAll("details[open] > summary > .name")].map(n => n.textContent).join(" "), marks = () => main.querySelectorAll("mark").length;
			type("f60_"); await wait(); say(open()); say(marks()); say(main.querySelectorAll("#tree > li").length); type("f1_"); await wait(); say(main.querySelectorAll("#tree > li").length);
			type("f1500_"); await wait(); say(main.querySelectorAll("details[open]").length); type("f6"); await wait(); say(marks() >= 11);`, "f45_ f50_ f55_|1|50|2|30|true"},
		{"a search from a function, and the opened branches without one", write(t, deep(t)), "#calls?root=f1990_&q=f1999_",
			`say([...main.querySelector("ul.tree").querySelectorAll("details[open] > summary > .name")].map(n => n.textContent).join(" ")); type(""); await wait(); say(main.querySelectorAll("details[open]").length);`, "f1990_ f1994_|2"},
		{"the callers of a function", program, "#calls?root=_Z3f12i", `say(main.querySelectorAll("h2")[1].nextSibling.textContent.includes("k"));`, "true"},
		{"kernels", program, "#kernels", `say(main.querySelector("tbody tr").textContent);`, "kkernel51224?2400"},
		{"a column of two words sorts", program, "#kernels?sort=spill loads down", `say(main.querySelector("tbody tr td").textContent);`, "f03(int)"},
		{"renamed symbols, with short paths", program, "#changes?q=counter$", `say(main.querySelectorAll("tbody tr").length); say(main.textContent.includes("/build/"));`, "49|false"},
		{"messages filter by text", program, "#messages", `const n = main.querySelectorAll(".message").length; type("no such text"); await wait(); say(n > 0); say(main.querySelectorAll(".message").length);`, "true|0"},
		{"a link that failed has its messages alone", write(t, failed()), "",
			`say(document.getElementById("summary").textContent); say(document.querySelectorAll("nav a").length); say(main.querySelector(".message.error").textContent);`, "The link failed: 1 error|1|error: undefined symbol: f [undefined-symbol]"},
		{"hostile names stay text", write(t, hostile(t)), "#symbols", `say(document.title.endsWith("- ptxlink")); say(main.querySelectorAll("b").length); say(main.querySelectorAll("tbody tr").length);`, "true|0|1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, width := range []int{1300, 420} {
				if got := drive(t, width, c.page, c.fragment, c.script); got != c.want {
					t.Errorf("%d pixels wide: %s, want %s", width, got, c.want)
				}
			}
		})
	}
}

// TestSearchCost types into the search of a deep tree, and counts the elements that a key shows. A search
// that follows each path does not end.
func TestSearchCost(t *testing.T) {
	oracles.Long(t)
	browser := oracles.RequireCompiler(t, "chromium")
	page := strings.Replace(write(t, deep(t)), "</body>", `<pre id="said"></pre><script>
const shown = [];
for (const text of ["f", "f6", "f60", "f60_", "f1", "f19", "f199", "f1999_", "x", "", "f1500_"]) {
	const input = main.querySelector("input[type=search]");
	input.value = text; input.dispatchEvent(new Event("input"));
	shown.push(main.querySelectorAll("*").length);
}
document.getElementById("said").textContent = Math.max(...shown);
</script></body>`, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+path+"#calls").Output()
	text := regexp.MustCompile(`<pre id="said">(\d+)</pre>`).FindSubmatch(out)
	if err != nil || text == nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	if most, err := strconv.Atoi(string(text[1])); err != nil || most > 5000 {
		t.Errorf("a key shows %d elements, %v", most, err)
	}
}
