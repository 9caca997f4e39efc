// Package bridge converts messages of link/diag to those of package link for
// the packages beside link, whose API has no internal types. Package link sets the
// functions; the type parameters are types of link, which bridge cannot import.
package bridge

import "ptxlink/link/diag"

var (
	// PublicMessages returns a []*link.Message.
	PublicMessages func([]*diag.Message) any
	// InternalPlace takes a link.Place.
	InternalPlace func(any) diag.Place
)

// Messages converts messages to the type of link's API:
// Messages[*link.Message](list).
func Messages[M any](list []*diag.Message) []M { return PublicMessages(list).([]M) }

// Place returns the place behind a link.Place.
func Place[P any](place P) diag.Place { return InternalPlace(place) }
