package abicheck

import (
	"fmt"

	"ptxlink/internal/diag"
	"ptxlink/object"
)

// Hosts reports inputs that cannot share a process (PTX Interoperability 1.1),
// and returns the address size of the output in bits. A module that does not
// say (PTX before 2.3) takes the others' value; alone it is 64, as ptxas has it.
func Hosts(files []*object.File, log *diag.Log) (addressSize int) {
	var first *object.File
	for _, f := range files {
		switch {
		case f.AddressSize == 0:
		case first == nil:
			first = f
		case f.AddressSize != first.AddressSize:
			log.Error(f.At(f.AddressSpan), fmt.Sprintf("%d-bit addresses here but %d-bit addresses in %s", f.AddressSize, first.AddressSize, first.Name)).
				Note(first.At(first.AddressSpan), "first input with an address size").
				WithHelp("compile all inputs for one host")
		}
	}
	if first == nil {
		return 64
	}
	for _, f := range files {
		if f.AddressSize == 0 {
			log.Warn("address-size", f.At(f.TargetSpan), fmt.Sprintf("no .address_size; assumed %d like %s", first.AddressSize, first.Name))
		}
	}
	return first.AddressSize
}
