// Package sets holds what most packages need of sets and maps: names by hash, names by pattern, walks
// over graphs, and maps and expressions that are made when they are first needed.
package sets
