package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"ptxlink/link/ptxas"
)

// progressLine is a line on a terminal that is written again and again, and erased in
// the end. It uses no control sequences other than CR.
type progressLine struct {
	mu          sync.Mutex
	file        *os.File
	gpus        string
	start       time.Time
	done, parts int
	shown       int // characters on the terminal
}

// showProgress shows how far ptxas is, from one second on, if standard error is a
// terminal. stop erases the line.
func (j *linkJob) showProgress(b *ptxas.Build, targets []ptxas.Target) (stop func()) {
	if !isTerminal(j.stderr) || os.Getenv("TERM") == "dumb" || b.Verbose || j.opts.Bool("dry-run") || !j.report.text() {
		return func() {}
	}
	p := &progressLine{file: j.stderr.(*os.File), start: time.Now()}
	var gpus []string
	for _, t := range targets {
		gpus = append(gpus, t.Arch)
	}
	p.gpus = strings.Join(gpus, ", ")
	b.Progress = func(done, parts int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done, p.parts = done, parts
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.write(p.text())
			case <-end:
				p.write("")
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// text returns the line, such as "ptxlink: assembling 3 of 12 parts (sm_80), 4 s".
func (p *progressLine) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := ""
	if p.parts > 1 {
		parts = fmt.Sprintf(" %d of %d parts", min(p.done+1, p.parts), p.parts)
	}
	return fmt.Sprintf("ptxlink: assembling%s (%s), %d s", parts, p.gpus, int(time.Since(p.start).Seconds()))
}

// write replaces the line. It is cut to the width of the terminal, because CR does not
// go back over a line break.
func (p *progressLine) write(text string) {
	if width, _, err := term.GetSize(int(p.file.Fd())); err == nil && width > 0 && len(text) >= width {
		text = text[:width-1]
	}
	if text == "" && p.shown == 0 {
		return
	}
	blank := strings.Repeat(" ", max(0, p.shown-len(text)))
	end := ""
	if text == "" {
		end = "\r"
	}
	fmt.Fprint(p.file, "\r"+text+blank+end)
	p.shown = len(text)
}
