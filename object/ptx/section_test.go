package ptx

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/object/diag"
)

// shown returns a section on one line: bytes in hex, then fixups and labels.
func shown(d Data) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x", d.Bytes)
	for _, f := range d.Fixups {
		fmt.Fprintf(&b, " %d:%d=%s", f.Offset, f.Width, f)
	}
	for _, l := range d.Labels {
		fmt.Fprintf(&b, " %s@%d", l.Name, l.Offset)
	}
	return b.String()
}

// TestSectionData checks that the bytes are those that ptxas 12.4 writes, except
// for numbers whose upper half it drops.
func TestSectionData(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{".section .debug_x { }", ""},
		{".section .debug_x { .b8 1, 2,\n 255 .b8 -1, - 128 }", "0102ffff80"},
		{".section .debug_x { .b16 65535, -3, -32768 }", "fffffdff0080"},
		{".section .debug_x { .b32 0x10, 017, 0b11, 5U, -5, 4294967295 }", "100000000f0000000300000005000000fbffffffffffffff"},
		{".section .debug_x { .b64 0x1122334455667788, -2, 18446744073709551615 }", "8877665544332211feffffffffffffffffffffffffffffff"},
		{".section .debug_x { .b8 1 .b8 2 // three\n .b8/*4*/3 }", "010203"},
		{".section .debug_x { .b8 7 .b32 .debug_abbrev .b32 .debug_loc+133 }", "070000000000000000 1:4=.debug_abbrev 5:4=.debug_loc+133"},
		{".section .debug_x { .b64 $L__tmp0 .b64 counter+4 .b32 .debug_line }", strings.Repeat("00", 20) + " 0:8=$L__tmp0 8:8=counter+4 16:4=.debug_line"},
		{".section .debug_x { .b32 e - b  b: .b16 1 e: .b32 b-e .b32 e+0x10 }", "020000000100feffffff00000000 10:4=.debug_x+22 b@4 e@6"},
		{".section .debug_x { .b8 1 } .section .debug_y { .b8 9 l: } .section .debug_x { .b64 l+1 .b32 m m: }", "01000000000000000000000000 1:8=.debug_y+2 9:4=.debug_x+13 m@13"},
		{".section .debug_x { .b32 l-k } .section .debug_y { k: .b8 9 l: }", "01000000"},
		{".func f() { l: ret; } .section .debug_x { .b64 l }", "0000000000000000 0:8=l"},
	} {
		m := parse(t, test.text)
		d, err := m.SectionData(".debug_x")
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		} else if got := shown(d); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestAllSections checks that each section reads as it does alone.
func TestAllSections(t *testing.T) {
	m := parse(t, ".section .debug_x { .b8 1 } .section .debug_y { .b8 9 l: .b32 k } .section .debug_x { .b64 l+1 k: } .section .debug_z { } .section .debug_line { .b8 256 }")
	all, err := m.AllSections(".debug_line")
	if err != nil || len(all) != 2 {
		t.Fatalf("%d sections, %v", len(all), err)
	}
	for name, data := range all {
		alone, err := m.SectionData(name)
		if err != nil || shown(*data) != shown(alone) {
			t.Errorf("%s: %s, alone %s, %v", name, shown(*data), shown(alone), err)
		}
	}
	if _, err := m.AllSections(); err == nil || err.Text != "256 does not fit .b8" {
		t.Errorf("error %v", err)
	}
}

func TestSectionErrors(t *testing.T) {
	for _, test := range []struct{ body, at, want string }{
		{".b8 256", "256", "256 does not fit .b8"},
		{".b8 1, -129", "-129", "-129 does not fit .b8"},
		{".b16 65536", "65536", "65536 does not fit .b16"},
		{".b32 4294967296", "4294967296", "4294967296 does not fit .b32"},
		{".b64 18446744073709551616", "18446744073709551616", "18446744073709551616 is not an integer of at most 64 bits"},
		{".b64 -9223372036854775809", "-9223372036854775809", "-9223372036854775809 does not fit .b64"},
		{".b32 1.5", "1.5", "1.5 is not an integer of at most 64 bits"},
		{".b32 08", "08", "08 is not an integer of at most 64 bits"},
		{".b8 1,", "}", "expected a number, found the end of the section"},
		{".b8", "}", "expected a number, found the end of the section"},
		{".b8 1;", ";", "expected a label or .b8, .b16, .b32 or .b64, found ;"},
		{".b32 1, x", "x", "expected a number, found x"},
		{".b64 x, 1", ",", "expected a label or .b8, .b16, .b32 or .b64, found ,"},
		{".b32 x-1", "1", "expected a label, found 1"},
		{".b32 .debug_x-1", "-", "expected a label or .b8, .b16, .b32 or .b64, found -"},
		{".b32 x-y", "x-y", "x-y is not known before ptxas runs; both must be labels of one section"},
		{".b32 x-l l:", "x-l", "x-l is not known before ptxas runs; both must be labels of one section"},
		{".b16 x", "x", "an address needs .b32 or .b64"},
		{".b32 x+18446744073709551615", "18446744073709551615", "18446744073709551615 is not an offset into a section"},
		{".b8 1 l: .b64 l+9223372036854775807", "l+9223372036854775807", "l+9223372036854775807 lies outside every section"},
		{".u32 1", ".u32", "expected .b8, .b16, .b32 or .b64, found .u32"},
		{".b8 \"abc\"", "\"abc\"", "expected a number, found \"abc\""},
		{"l: .b8 1 l: .b8 2", "l: .b8 2", "label l is defined twice"},
		{"1", "1", "expected a label or .b8, .b16, .b32 or .b64, found 1"},
		{"l .b8 1", ".b8", "expected ':' after the label, found .b8"},
	} {
		text := ".section .debug_x { " + test.body + " }"
		m := parse(t, text)
		_, err := m.SectionData(".debug_x")
		if err == nil || err.Text != test.want {
			t.Errorf("%s: %v, want %q", test.body, err, test.want)
			continue
		}
		at := string(m.Src.Text[err.Span.Off:])
		if !strings.HasPrefix(at, test.at) {
			t.Errorf("%s: at %q, want %q", test.body, at, test.at)
		}
	}
}

func TestSectionSpan(t *testing.T) {
	m := parse(t, ".section .debug_x { .b8 1, 2 .b32 .debug_y } .section .debug_x { l: .b16 3 }")
	for offset, want := range []string{"1", "2", ".debug_y", ".debug_y", ".debug_y", ".debug_y", "3", "3", ""} {
		if got := m.Src.String(m.SectionSpan(".debug_x", int64(offset))); got != want {
			t.Errorf("byte %d: %q, want %q", offset, got, want)
		}
	}
}

// TestSectionCorpus reads every section of the compilers' output.
func TestSectionCorpus(t *testing.T) {
	paths, _ := filepath.Glob("../../testdata/ptx/*/*.ptx")
	bytes := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, fault := Parse(&diag.Source{Name: path, Text: text})
		if fault != nil {
			t.Fatalf("%s: %v", path, fault)
		}
		sameWithTokens(t, m.Src, m, nil)
		for _, s := range m.Sections {
			if !s.complete {
				t.Errorf("%s: %s is not complete", path, s.Name)
			}
			d, fault := m.SectionData(s.Name)
			if fault != nil {
				t.Errorf("%s: %s: %v", path, s.Name, fault)
			}
			bytes += len(d.Bytes)
		}
	}
	if bytes < 9000 {
		t.Errorf("only %d bytes of DWARF", bytes)
	}
}

// FuzzSection checks that reading a section never panics, and that the result is
// within the section and the text.
func FuzzSection(f *testing.F) {
	f.Add(".b8 1, -2, 0xff a: .b32 b-a b: .b64 .debug_info+4")
	f.Add("a: .b32 c+1 } .section .debug_y { .b16 017 c: .b64 a")
	f.Add(".b8 1 // x\n . b8 2,\n3 } .section .debug_x { .b32 $L__tmp0+4")
	f.Add(".b8 -1, - 128,007,5U,256 .b32 .debug_x+0x10 .b64 a:1 b: .b64 b-b::c")
	f.Add(".b8 1 // x\x00\n.b8 2")
	f.Add("$: .b64 _ .b32 .debug_info - 1 .b32 x-y, 1 .b64 18446744073709551615 // c\r .b8 1.5 /* */")
	f.Fuzz(func(t *testing.T, body string) {
		src := &diag.Source{Text: []byte(top + ".section .debug_x { " + body + " }")}
		m, err := Parse(src)
		if sameWithTokens(t, src, m, err); err != nil {
			return
		}
		for _, s := range m.Sections {
			d, err := m.SectionData(s.Name)
			inText := func(s diag.Span) {
				if s.Off < 0 || s.Len < 0 || int(s.End()) > len(src.Text) {
					t.Fatalf("span %v outside %d bytes", s, len(src.Text))
				}
			}
			if err != nil {
				inText(err.Span)
				continue
			}
			last := int64(0)
			for _, x := range d.Fixups {
				inText(x.Span)
				if x.Offset < last || x.Offset+int64(x.Width) > int64(len(d.Bytes)) || x.Addend < 0 || x.Target == "" {
					t.Fatalf("fixup %+v in %d bytes", x, len(d.Bytes))
				}
				last = x.Offset + int64(x.Width)
			}
			for _, l := range d.Labels {
				inText(l.Span)
				if l.Offset > int64(len(d.Bytes)) {
					t.Fatalf("label %+v in %d bytes", l, len(d.Bytes))
				}
			}
			if n := int64(len(d.Bytes)); n > 0 && m.SectionSpan(s.Name, n-1).Len == 0 || m.SectionSpan(s.Name, n).Len != 0 {
				t.Fatalf("no item for the last of %d bytes, or one behind it", n)
			}
		}
	})
}
