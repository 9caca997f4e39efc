package object

import "ptxlink/link/diag"

// The packages object, resolve and abicheck report to a Log of the caller, and
// package link is built from them. These aliases export the types to programs that
// call the passes themselves; Link returns link.Message.

// Log collects messages in the order they are added; Messages holds them, and
// Errors counts the errors. The zero Log is ready. It has no lock.
type Log = diag.Log

// Message is one error, warning or note: its Kind and ID, Text, Place, the second
// places in Notes, and Help. It is an error with the text of its first line.
type Message = diag.Message

// Place is a span of a source. Position returns file, line and column, 1-based.
type Place = diag.Place
