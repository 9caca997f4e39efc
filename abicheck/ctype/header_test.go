package ctype

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/diag"
	"ptxlink/internal/oracles"
)

// classes are classes of C++ whose layout depends on more than their members.
const classes = `
struct Pod { int a; char b; };
struct FromPod : Pod { char c; };
struct Built { Built(); int a; char b; };
struct FromBuilt : Built { char c; short d; };
struct Again : FromBuilt { char e; };
class Hidden { int a; char b; public: int sum() const { return a + b; } };
struct FromHidden : public Hidden { char c; };
struct Mixed { int a; private: char b; };
struct FromMixed : Mixed { char c; };
struct Assigned { Assigned &operator=(const Assigned &); long a; char b; };
struct FromAssigned : Assigned { char c; };
struct Destroyed { ~Destroyed(); long a : 33; };
struct FromDestroyed : Destroyed { int c : 3; char d; };
struct Holder { Built a; char b; };
struct FromHolder : Holder { char c; };
struct __attribute__((aligned(16))) Wide { Wide(int); char a; };
struct FromWide : Wide { double b; static int c; };
struct Set { int a = 1; char b; };
struct FromSet : Set { char c; };
struct Same : FromBuilt { };
struct Uses { Same s[2]; FromPod p; char z; int (*f)(Pod); };
union Either { FromBuilt a; FromPod b; };
`

// TestHeadersAgainstClang compares all types in headers of the system, and classes, with
// the layouts of clang.
func TestHeadersAgainstClang(t *testing.T) {
	clang := oracles.RequireCompiler(t, "clang")
	if _, err := os.Stat("/usr/include/netdb.h"); err != nil {
		t.Skip("no headers of the system")
	}
	headers := ""
	for _, h := range []string{"stdio.h", "stdlib.h", "stdint.h", "time.h", "sys/stat.h", "sys/time.h", "sys/resource.h", "netdb.h", "netinet/in.h", "dirent.h", "elf.h", "signal.h", "pthread.h", "termios.h", "poll.h", "sys/un.h", "link.h"} {
		headers += "#include <" + h + ">\n"
	}
	for _, test := range []struct {
		name, lang, text string
		least            int // types compared
	}{
		{"headers", "c", headers, 70},
		{"headers", "c++", headers, 80},
		{"classes", "c++", classes, 22},
	} {
		t.Run(test.name+" "+test.lang, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "all.h")
			if err := os.WriteFile(file, []byte(test.text), 0o666); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) string {
				out, err := exec.Command(clang, append([]string{"--target=x86_64-linux-gnu", "-x", test.lang}, append(args, file)...)...).Output()
				if err != nil {
					t.Fatal(err)
				}
				return string(out)
			}
			src := &diag.Source{Name: file, Text: []byte(run("-E"))}
			model := LP64
			model.C = test.lang == "c"
			header, err := ParseHeader(src, model)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for _, dump := range strings.Split(run("-fsyntax-only", "-Xclang", "-fdump-record-layouts-complete"), "*** Dumping AST Record Layout")[1:] {
				name := regexp.MustCompile(`\| (?:struct|union|class) (\w+)(?: \(empty\))?\n`).FindStringSubmatch(dump)
				size := regexp.MustCompile(`\[sizeof=(\d+),(?: dsize=\d+,)? align=(\d+)`).FindStringSubmatch(dump)
				if name == nil || size == nil {
					continue // without a name
				}
				typ, err := header.Type(name[1])
				var l *Layout
				if err == nil {
					l, err = LayOut(typ, model)
				}
				if err != nil {
					t.Logf("%s: %v", name[1], err)
					continue
				}
				if want := size[1] + "/" + size[2]; strconv.FormatInt(l.Size, 10)+"/"+strconv.FormatInt(l.Align, 10) != want {
					t.Errorf("%s: size and alignment %d/%d, clang has %s", typ, l.Size, l.Align, want)
				}
				places := map[string]int64{}
				for _, m := range regexp.MustCompile(`(?m)^ *(\d+)(?::(\d+)-\d+)? \|   \S.* (\w+)$`).FindAllStringSubmatch(dump, -1) {
					offset, _ := strconv.ParseInt(m[1], 10, 64)
					bit, _ := strconv.ParseInt("0"+m[2], 10, 64)
					places[m[3]] = offset*8 + bit
				}
				for i := range l.Members {
					m := &l.Members[i]
					if at, known := places[m.Name]; m.Name != "" && (!known || at != m.Bit) {
						t.Errorf("%s: %s is at bit %d, clang has %d, %v", typ, m.Name, m.Bit, at, known)
					}
				}
				compared++
			}
			t.Logf("%d types compared", compared)
			if compared < test.least {
				t.Errorf("only %d types compared", compared)
			}
		})
	}
}
