package abicheck

import (
	"fmt"

	"ptxlink/object"
	"ptxlink/object/diag"
)

// HostOptions holds what the user specifies about the host.
type HostOptions struct {
	Host          object.Host // --host: host of modules that do not record one
	AllowMismatch bool        // --allow-host-mismatch: different operating systems are a warning
}

// Hosts reports inputs that cannot share a process and returns the address size
// of the output in bits and the host of all inputs (PTX Interoperability 1.1):
//
//  1. 32-bit and 64-bit addresses: always an error
//  2. known operating systems that differ in the size of long (windows and the
//     others): an error, a warning with AllowMismatch
//  3. linux and mac, or differing CPUs: a warning
//  4. unknown matches everything
//
// A module without .address_size (PTX before 2.3) takes the value of the others.
// The default is 64, as in ptxas.
func Hosts(files []*object.File, o HostOptions, log *diag.Log) (addressSize int, host object.Host) {
	addressSize = addressSizes(files, log)
	var from *object.File // the first input with a known host; nil is --host
	host = o.Host
	known := host != object.Host{}
	for _, f := range files {
		switch {
		case f.Host == object.Host{}:
		case !known:
			host, from, known = f.Host, f, true
		default:
			compareHosts(f, host, from, o.AllowMismatch, log)
			host = host.Or(f.Host)
		}
	}
	if known && host.Model != "" && (host.Model == "ilp32") != (addressSize == 32) {
		for _, f := range files {
			if f.AddressSize != 0 {
				log.Error(diag.AddressSizeMismatch, f.At(f.AddressSpan), fmt.Sprintf("%d-bit addresses, but the host %s has %d-bit addresses", addressSize, host, 32+64-addressSize)).
					WithHelp("compile for that host, or omit " + log.Option("--host"))
				break
			}
		}
	}
	return addressSize, host
}

func compareHosts(f *object.File, host object.Host, from *object.File, allow bool, log *diag.Log) {
	name := log.Option("--host")
	if from != nil {
		name = from.Name
	}
	id, report, text := diag.Host, log.Warn, ""
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	switch {
	case differ(f.Host.Model, host.Model) && differ(f.Host.OS, host.OS):
		if !allow {
			id, report = diag.HostMismatch, log.Error
		}
		text = fmt.Sprintf("made for %s (%s), but %s is for %s (%s): long and the layout of structures differ", f.Host, f.Host.Model, name, host, host.Model)
	case differ(f.Host.OS, host.OS):
		text = fmt.Sprintf("made for %s, but %s is for %s", f.Host, name, host)
	case differ(f.Host.Arch, host.Arch):
		text = fmt.Sprintf("made for %s, but %s is for %s: long double and the sign of char may differ", f.Host, name, host)
	default:
		return
	}
	m := report(id, f.At(f.HostSpan), text).WithHelp("compile all inputs for one host")
	if from != nil {
		m.Note(from.At(from.HostSpan), "made for "+from.Host.String())
	}
}

func addressSizes(files []*object.File, log *diag.Log) int {
	var first *object.File
	for _, f := range files {
		switch {
		case f.AddressSize == 0:
		case first == nil:
			first = f
		case f.AddressSize != first.AddressSize:
			log.Error(diag.AddressSizeMismatch, f.At(f.AddressSpan), fmt.Sprintf("%d-bit addresses here but %d-bit addresses in %s", f.AddressSize, first.AddressSize, first.Name)).
				Note(first.At(first.AddressSpan), "first input with an address size").
				WithHelp("compile all inputs for one host")
		}
	}
	if first == nil {
		return 64
	}
	for _, f := range files {
		if f.AddressSize == 0 {
			log.Warn(diag.AddressSize, f.At(f.TargetSpan), fmt.Sprintf("no .address_size; assumed %d like %s", first.AddressSize, first.Name))
		}
	}
	return first.AddressSize
}
