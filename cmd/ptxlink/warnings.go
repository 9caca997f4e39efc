package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xrash/smetrics"
	"ptxlink/internal/diag"
)

// warnings are the names that -Wno- takes, sorted.
var warnings = func() (names []string) {
	for _, r := range diag.Rules(diag.Warning) {
		names = append(names, r.Name)
	}
	return names
}()

// checkWarning refuses what no warning is called.
func checkWarning(id string) error {
	if slices.Contains(warnings, id) {
		return nil
	}
	text := fmt.Sprintf("there is no warning called %q", id)
	if near := nearestOf(warnings, id); near != "" {
		text += fmt.Sprintf(" (did you mean -Wno-%s?)", near)
	}
	return &usageError{text: text, help: "ptxlink --help lists the warnings"}
}

// nearestOf is the name that was probably meant; empty if none is near.
func nearestOf(names []string, name string) string {
	best, near := len(name)/3+1, ""
	for _, n := range names {
		d := smetrics.WagnerFischer(name, n, 1, 1, 1)
		if swapped(name, n) {
			d = 1
		}
		if len(n) > 1 && d < best {
			best, near = d, n
		}
	}
	return near
}

// swapped says whether two letters in a row stand the other way round.
func swapped(a, b string) bool {
	for i := range len(a) - 1 {
		if a[:i]+a[i+1:i+2]+a[i:i+1]+a[i+2:] == b {
			return true
		}
	}
	return false
}

// warningHelp lists the warnings in lines that fit the screen.
func warningHelp() string {
	var b strings.Builder
	line := "Warnings:"
	for _, id := range warnings {
		if len(line)+1+len(id) > 80 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + id
	}
	return b.String() + line + "\n"
}
