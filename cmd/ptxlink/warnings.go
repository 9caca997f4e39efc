package main

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/internal/typo"
)

// warnings returns the names that -Wno- accepts, sorted.
var warnings = func() (names []string) {
	for _, r := range diag.Rules(diag.Warning) {
		names = append(names, r.Name)
	}
	return names
}()

// checkWarning returns an error if no warning has the name.
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

// nearestOf returns the name that was probably meant, or "" if none is similar: one
// letter in three may be wrong.
func nearestOf(names []string, name string) string {
	limit, near := len(name)/3, ""
	for _, n := range names {
		if d := typo.Distance(name, n, limit); len(n) > 1 && d <= limit {
			limit, near = d-1, n
		}
	}
	return near
}

// warningHelp returns the list of warnings in lines that fit the screen.
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
