//go:build !windows

package main

// fromCodePage does nothing: names of files are bytes here.
func fromCodePage(text string) string { return text }
