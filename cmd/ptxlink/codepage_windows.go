package main

import (
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

// fromCodePage converts text from the code page of the system to UTF-8, because nvcc writes
// response files in the code page.
func fromCodePage(text string) string {
	const codePage = 0 // CP_ACP
	data := []byte(text)
	units := make([]uint16, len(data)) // enough, since no character needs more
	n, err := windows.MultiByteToWideChar(codePage, 0, &data[0], int32(len(data)), &units[0], int32(len(units)))
	if err != nil {
		return text
	}
	return string(utf16.Decode(units[:n]))
}
