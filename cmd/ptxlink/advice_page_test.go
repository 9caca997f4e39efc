package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/object/diag"
)

// claim is the line of a script that stands before a link which follows the advice of
// messages: "# advice: undefined-symbol duplicate-symbol".
var claim = regexp.MustCompile(`^# advice: ([a-z -]+)$`)

// linkExample matches the command of an example that links or checks.
var linkExample = regexp.MustCompile(`^\$ ptxlink (?:check|nvlink|-|[^ ]*\.)`)

// unmarked are the IDs that messages do not show.
var unmarked = map[diag.ID]bool{diag.Usage: true, diag.IO: true}

// TestAdvicePage writes docs/advice.md: the messages of a link, their advice, and the
// script that follows it. Behind the line of a claim must be a command that succeeds,
// and the script must check the message.
func TestAdvicePage(t *testing.T) {
	const page, mark = "../../docs/advice.md", "<!-- go test ./cmd/ptxlink -run AdvicePage -update writes what follows -->\n"
	followed := map[diag.ID][]string{}
	scripts, err := filepath.Glob("../../testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		commands, _, _ := strings.Cut(string(text), "\n-- ")
		lines := strings.Split(commands, "\n")
		for i, line := range lines {
			found := claim.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "ptxlink ") {
				t.Errorf("%s:%d: no link behind the claim", script, i+1)
			}
			for name := range strings.FieldsSeq(found[1]) {
				id := diag.ID(name)
				_, known := id.Rule()
				switch {
				case !known:
					t.Errorf("%s:%d: there is no ID %s", script, i+1, name)
				case !unmarked[id] && !regexp.MustCompile(`\[(-W)?`+name+`\\?\]`).Match(text):
					t.Errorf("%s:%d: the script does not check the message of %s", script, i+1, name)
				}
				shown := "`" + strings.TrimSuffix(filepath.Base(script), ".txtar") + "`"
				if list := followed[id]; len(list) == 0 || list[len(list)-1] != shown {
					followed[id] = append(list, shown)
				}
			}
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s lacks %s", page, mark)
	}
	var rows strings.Builder
	shown, proven := 0, 0
	for _, kind := range []diag.Kind{diag.Error, diag.Warning} {
		for _, r := range diag.Rules(kind) {
			id := r.ID
			example := r.Example()
			if !linkExample.MatchString(example) && followed[id] == nil || id == diag.Internal || id == diag.Interrupted {
				continue
			}
			message, help := "", ""
			for line := range strings.Lines(example) {
				line = cell(strings.TrimSuffix(line, "\n"))
				if text, ok := strings.CutPrefix(line, "help: "); ok && help == "" {
					help = text
				} else if message == "" && strings.Contains(line, ": "+kind.String()+": ") {
					_, message, _ = strings.Cut(line, ": "+kind.String()+": ")
				}
			}
			script := "no script"
			switch list := followed[id]; {
			case list != nil:
				script = strings.Join(list, ", ")
				shown, proven = shown+1, proven+1
			case help == "":
				script = "no advice"
			default:
				shown++
			}
			fmt.Fprintf(&rows, "| [`%s`](errors.md#%s) | %s | %s | %s |\n", r.ID, r.ID, message, help, script)
		}
	}
	want := intro + mark + fmt.Sprintf("Scripts follow the advice of %d of the %d messages that have some.\n\n| ID | message | advice | script |\n|---|---|---|---|\n", proven, shown) + rows.String()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s is not what the examples and scripts say; run go test ./cmd/ptxlink -run AdvicePage -update", page)
	}
}

// cell returns a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "'", "[", `\[`).Replace(text)
}
