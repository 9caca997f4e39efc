package advice

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object"
	"ptxlink/object/diag"
)

func TestMain(m *testing.M) { oracles.Main(m) }

const top = ".version 7.8\n.target sm_75\n.address_size 64\n"

// opened opens modules named a.ptx, b.ptx and so on. Comments before a text name its compiler.
func opened(t *testing.T, texts ...string) []*object.File {
	t.Helper()
	var inputs []object.Input
	for i, text := range texts {
		comments := text[:len(text)-len(strings.TrimLeft(text, "/"))]
		if comments != "" {
			comments, text, _ = strings.Cut(text, "\n")
		}
		inputs = append(inputs, object.Input{Name: string(rune('a'+i)) + ".ptx", Text: []byte(comments + "\n" + top + text)})
	}
	var log diag.Log
	set, err := object.Open(context.Background(), inputs, object.Options{Jobs: 1}, &log)
	if err != nil || log.Errors() > 0 || len(set.Units) != len(texts) {
		t.Fatal(err, log.Messages)
	}
	var files []*object.File
	for i, u := range set.Units {
		u.File.Rank = i
		files = append(files, u.File)
	}
	return files
}

func written(log *diag.Log) (list []string) {
	for _, m := range log.Messages {
		file, _, _ := m.Place.Position()
		text := m.Kind.String() + " " + strings.TrimSuffix(file, ".ptx") + ": " + m.Text
		for _, n := range m.Notes {
			file, _, _ := n.Place.Position()
			text += "\nnote " + strings.TrimSuffix(file, ".ptx") + ": " + n.Text
		}
		if m.Help != "" {
			text += "\nhelp: " + m.Help
		}
		list = append(list, text)
	}
	return list
}

func same(t *testing.T, rule, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n%s:\n%s\nwant:\n%s", rule, what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
