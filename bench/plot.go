//go:build linux

package main

import (
	"bytes"
	"fmt"
)

// plotted are the sets of the plot, whose first command is cat.
var plotted = []string{"M", "L", "modules", "symbols", "archive", "markers", "gcc", "nvcc-G", "clang-g"}

// colours are those of the bars, by command.
var colours = map[string]string{
	"ptxlink": "#2f6fb0", "ptxlink, no index": "#2f6fb0", "ptxlink, index": "#2f6fb0",
	"ptxlink -j1": "#8fb8de", "nvptx-none-ld": "#c9c9c9",
}

// plot draws how many times as long as cat each command takes: one bar for each.
func (b *bench) plot() []byte {
	const left, width, bar, row = 210, 480, 12, 16
	type line struct {
		set, name string
		value     float64
	}
	var lines []line
	longest := 1.0
	for _, name := range plotted {
		s, cat := b.find(name, "cat")
		if cat == nil {
			continue
		}
		for _, c := range s.commands {
			if colours[c.name] != "" {
				l := line{name, c.name, wall(s, c) / wall(s, cat)}
				lines = append(lines, l)
				longest = max(longest, l.value)
			}
		}
	}
	scale := width / longest
	var body bytes.Buffer
	y := 24
	for i, l := range lines {
		if i == 0 || l.set != lines[i-1].set {
			y += 10
			fmt.Fprintf(&body, `<text x="8" y="%d" font-weight="bold">%s</text>`+"\n", y+bar-2, l.set)
		}
		fmt.Fprintf(&body, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-6, y+bar-2, l.name)
		fmt.Fprintf(&body, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, y, l.value*scale, bar, colours[l.name])
		fmt.Fprintf(&body, `<text x="%.1f" y="%d">%.2g</text>`+"\n", left+l.value*scale+4, y+bar-2, l.value)
		y += row
	}
	y += 10
	fmt.Fprintf(&body, `<path d="M%.1f 26V%d" stroke="#b03030" stroke-dasharray="3 3"/><text x="%.1f" y="%d" fill="#b03030">cat = 1</text>`+"\n", left+scale, y-6, left+scale+4, y+6)

	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11" fill="#222">`+"\n", left+width+50, y+14)
	fmt.Fprintf(&svg, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n"+`<text x="8" y="18" font-size="13">Time to link, as a multiple of cat on the same files; shorter is better</text>`+"\n")
	svg.Write(body.Bytes())
	svg.WriteString("</svg>\n")
	return svg.Bytes()
}
