package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/oracles"
)

// said runs a script in the page and returns what it passes to say, line by line. Until then an image is not
// loaded, for which the browser waits.
func said(t *testing.T, page []byte, script string) string {
	t.Helper()
	browser := oracles.RequireCompiler(t, "chromium")
	answer := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			answer <- string(text)
		} else {
			select {
			case text := <-answer:
				answer <- text
			case <-r.Context().Done():
			}
		}
	}))
	defer server.Close()
	text := strings.Replace(string(page), "</body>", `<img hidden src="`+server.URL+`"><script>
const told = [], say = (...words) => told.push(words.join(" "));
const wait = async of => { while (!of()) await new Promise(done => setTimeout(done, 20)); };
(async () => {
	try { await wait(() => last); `+script+` } catch (e) { say("failed: " + e); }
	fetch("`+server.URL+`", { method: "POST", mode: "no-cors", body: told.join("\n") + "\n" });
})();
</script></body>`, 1)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--user-data-dir=" + t.TempDir()}
	if picture := os.Getenv("PTXLINK_SCREENSHOT"); picture != "" {
		args = append(args, "--screenshot="+picture)
	} else {
		args = append(args, "--dump-dom")
	}
	if out, err := exec.CommandContext(t.Context(), browser, append(args, "file://"+path)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	select {
	case text := <-answer:
		return text
	default:
		t.Fatal("the page did not answer")
		return ""
	}
}

// TestPage links the examples in a browser and follows their messages to the modules.
func TestPage(t *testing.T) {
	page, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(page)
	z.Close()
	if packed.Len() > 4<<20 {
		t.Errorf("the page has %d bytes when it is compressed, more than 4 MiB", packed.Len())
	}
	got := said(t, page, `
		const report = () => {
			say($("status").textContent.replace(/in [0-9.]+ ms/, "in TIME"));
			for (const m of document.querySelectorAll(".message")) {
				say("  " + m.firstChild.nextSibling.textContent);
				for (const b of m.querySelectorAll(".places button")) {
					b.click();
					const area = document.activeElement;
					say("    " + b.textContent, area.ariaLabel, area.value.slice(area.selectionStart, area.selectionEnd));
				}
			}
		};
		for (let i = 0; i < presets.length; i++) {
			$("preset").selectedIndex = i;
			$("preset").dispatchEvent(new Event("change"));
			say(presets[i].title);
			report();
		}
		const calls = text => text.split("call.uni").length - 1;
		say("calls with -O1:", calls(last.ptx));
		$("level").value = "0"; link();
		say("without:", calls(last.ptx));
		const line = [...document.querySelectorAll("#output div")].find(e => e.textContent.includes("mul.f32"));
		line.click();
		say(line.title, document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd).trim() === line.textContent.trim());

		const before = last;
		modules[0].area.value = modules[0].area.value.replace(".version 8.4", ".version x");
		modules[0].area.dispatchEvent(new Event("input"));
		await wait(() => last !== before);
		report();

		choose({ modules: [] });
		report();
		say($("linked").hidden);
		$("add").click();
		modules[0].name = "<img src=x onerror=say(1)>";
		modules[0].area.value = "nonsense"; link();
		report();
		choose(presets[1]);
		$("allow-undefined").value = "_Z4area*"; link();
		report();
		choose({ modules: [presets[0].modules[0]] });
		const packed = await new Response(new Blob([presets[0].modules[1].text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
		await addFiles([new File([packed], "lib.ptx.gz")]);
		report();
		choose({ modules: [{ name: "é.ptx", text: "// é 𝔸\n.version 7.5\n.target sm_75\n.address_size 64\n/* 𝔸 */ .extern .func f;\n.visible .entry k() { /* 𝔸 */ call f; }\n" }] });
		report();
		choose(presets[0]);
	`)
	want, err := os.ReadFile("testdata/said.txt")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("testdata/said.txt (-want +got)\n%s\nall of it:\n%s", d, got)
	}
}
