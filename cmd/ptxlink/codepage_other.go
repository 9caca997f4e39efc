//go:build !windows

package main

// fromCodePage returns the text unchanged, because names of files are bytes here.
func fromCodePage(text string) string { return text }
