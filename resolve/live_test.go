package resolve

import (
	"context"
	"slices"
	"testing"

	"ptxlink/internal/diag"
	"ptxlink/object"
)

func load(t *testing.T, texts ...string) []*object.File {
	t.Helper()
	var inputs []object.Input
	for i, text := range texts {
		inputs = append(inputs, object.Input{Name: string(rune('a' + i)), Text: []byte(".version 7.8\n.target sm_75\n.address_size 64\n" + text)})
	}
	var log diag.Log
	files, _, err := object.Load(context.Background(), inputs, object.Options{Jobs: 1}, &log)
	if err != nil || log.Errors() > 0 {
		t.Fatal(err, log.Messages)
	}
	return files
}

func TestLive(t *testing.T) {
	files := load(t,
		".visible .func unneeded(){ret;}",                                                    // a, lazy
		".visible .func g(){ret;} .extern .func h(); .visible .func g2(){ call h; ret; }",    // b, lazy
		".extern .func g(); .extern .func never(); .visible .entry k(){ call g; ret; }",      // c
		".visible .func g(){ret;}",                                                           // d, lazy: b is first
		".weak .func h(){ret;}",                                                              // e, lazy
		".visible .func never(){ret;}",                                                       // f, lazy: declared, not used
		".common .global .b8 pool[4];",                                                       // g, lazy: a common pulls nothing in
		".extern .global .b8 pool[4]; .visible .func root(){ st.global.u8 [pool], 1; ret; }", // h, lazy: a root
		".visible .func malloc(){ret;}",                                                      // i, lazy: a system call
	)
	for i, f := range files {
		f.Lazy = i != 2
	}
	live, pulls := Live(files, []string{"root", "malloc"})
	var names, why []string
	for _, f := range live {
		names = append(names, f.Name)
	}
	if want := []string{"b", "c", "e", "h"}; !slices.Equal(names, want) {
		t.Errorf("live: %v, want %v", names, want)
	}
	for _, p := range pulls {
		by := "-u"
		if p.By != nil {
			by = p.By.Name
		}
		why = append(why, p.File.Name+" for "+p.Symbol+" by "+by)
	}
	if want := []string{"h for root by -u", "b for g by c", "e for h by b"}; !slices.Equal(why, want) {
		t.Errorf("pulls: %v, want %v", why, want)
	}
	for _, f := range files {
		f.Lazy = false
	}
	if all, pulls := Live(files, nil); len(all) != len(files) || pulls != nil {
		t.Error("without archives everything is live")
	}
}
