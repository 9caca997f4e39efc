package object

import "ptxlink/object/diag"

// The packages object, resolve and abicheck report to a Log of the caller, and package link
// is built from them. These are the names of the types for programs that call the passes
// themselves.

// Log collects messages in the order they are added.
type Log = diag.Log

// Message is one error, warning or note.
type Message = diag.Message

// Place is a span of a source.
type Place = diag.Place
