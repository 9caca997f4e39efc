package link_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"ptxlink/link"
	"ptxlink/object/diag"
)

const kernel = `.version 7.8
.target sm_75
.address_size 64

.extern .func scale (.param .b32 factor);

.visible .entry k () {
	.param .b32 p;
	st.param.b32 [p], 3;
	call scale, (p);
	ret;
}
`

const scale = `.version 7.8
.target sm_75
.address_size 64

.visible .func scale (.param .b32 factor) {
	ret;
}
`

// Modules may be in memory: a JIT compiler gives each a name for the messages.
func Example() {
	r, err := link.Link(context.Background(), link.Options{Inputs: []link.Input{
		{Name: "kernel.ptx", Text: []byte(kernel)},
		{Name: "scale.ptx", Text: []byte(scale)},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range r.Symbols() {
		fmt.Println(s.Kind, s.Name, "of", s.Module)
	}
	// Output:
	// entry k of kernel.ptx
	// func scale of scale.ptx
}

// A link that fails returns all its messages.
func ExampleErrors() {
	_, err := link.Link(context.Background(), link.Options{Inputs: []link.Input{{Name: "kernel.ptx", Text: []byte(kernel)}}})
	var refused *link.Errors
	if errors.As(err, &refused) {
		for _, m := range refused.Messages {
			fmt.Printf("%s: %s [%s]\n", m.Place, m.Text, m.ID)
		}
	}
	fmt.Println(errors.Is(err, diag.ID("undefined-symbol")))
	// Output:
	// kernel.ptx:10:7: undefined symbol: scale, used in k [undefined-symbol]
	// true
}

// A Linker is for programs that link many kernels with the same libraries.
func ExampleLinker() {
	l, err := link.NewLinker(context.Background(), "sm_80", link.Input{Name: "scale.ptx", Text: []byte(scale)})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"first.ptx", "second.ptx"} {
		r, err := l.Link(context.Background(), link.Options{Inputs: []link.Input{{Name: name, Text: []byte(kernel)}}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, len(r.Modules))
	}
	// Output:
	// first.ptx 2
	// second.ptx 2
}

// Messages are written as the ptxlink command writes them.
func ExampleErrors_write() {
	_, err := link.Link(context.Background(), link.Options{Inputs: []link.Input{{Name: "kernel.ptx", Text: []byte(kernel)}}})
	var refused *link.Errors
	if errors.As(err, &refused) {
		diag.Write(os.Stdout, refused.Messages, diag.Style{})
	}
	// Output:
	// kernel.ptx:10:7: error: undefined symbol: scale, used in k [undefined-symbol]
	//    10 | 	call scale, (p);
	//       | 	     ^^^^^
	// help: add the module that defines it, or pass Options.AllowUndefined to leave it open
}
