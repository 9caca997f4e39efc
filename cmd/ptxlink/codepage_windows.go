package main

import (
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// fromCodePage returns text in the code page of the system, in which nvcc writes response files, as UTF-8.
func fromCodePage(text string) string {
	const codePage = 0 // CP_ACP
	data := []byte(text)
	units := make([]uint16, len(data)) // no character takes more
	n, err := windows.MultiByteToWideChar(codePage, 0, &data[0], int32(len(data)), &units[0], int32(len(units)))
	if err != nil {
		return text
	}
	return string(utf16.Decode(units[:n]))
}
