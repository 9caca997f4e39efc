package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
	"unicode"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// readVersionScript reads a version script of GNU ld:
//
//	VERSION { global: name; pattern*; local: *; };
//
// All versions count as one, because PTX has no versions, so their names mean nothing. An extern
// "C" block is a list like others; extern "C++" is an error. readVersionScript returns the patterns
// of global and of local, and the place of each.
func readVersionScript(read *infile.Files, file string) (global, local []string, places map[string]diag.Place, err error) {
	text, err := read.ReadFile(file, maxArgBytes)
	if err != nil {
		return nil, nil, nil, &exitError{exitIO, fmt.Errorf("cannot read version script %s: %w", file, outfile.Reason(err))}
	}
	places = map[string]diag.Place{}
	p := scriptParser{global: &global, local: &local, places: places}
	p.Init(bytes.NewReader(hashComment().ReplaceAll(text, nil)))
	p.Filename = file
	p.Mode = scanner.ScanIdents | scanner.ScanStrings | scanner.ScanComments | scanner.SkipComments
	p.IsIdentRune = func(ch rune, i int) bool {
		return ch != scanner.EOF && (unicode.IsLetter(ch) || unicode.IsDigit(ch) || strings.ContainsRune("_$.*?[]^-!@", ch))
	}
	p.Error = func(*scanner.Scanner, string) {} // because the text of a bad token is reported
	for p.next(); p.tok != scanner.EOF && p.err == nil; {
		if p.tok == scanner.Ident {
			p.next() // the name of the version
		}
		p.block()
		if p.tok == scanner.Ident {
			p.next() // the version it depends on
		}
		p.need(';')
	}
	return global, local, places, p.err
}

// hashComment matches comments that text/scanner does not know.
var hashComment = sets.Regexp(`#.*`)

type scriptParser struct {
	scanner.Scanner
	tok           rune
	global, local *[]string
	places        map[string]diag.Place
	err           error
}

func (p *scriptParser) next() { p.tok = p.Scan() }

func (p *scriptParser) need(tok rune) {
	if p.tok != tok {
		p.fail("expected " + strconv.QuoteRune(tok))
		return
	}
	p.next()
}

func (p *scriptParser) fail(what string) {
	if p.err == nil {
		found := strconv.Quote(p.TokenText())
		if p.tok == scanner.EOF {
			found = "the end of the file"
		}
		p.err = usageError(fmt.Sprintf("%s:%d:%d: %s, found %s", p.Filename, p.Line, p.Column, what, found), "a version script looks like { global: name; pattern*; local: *; };")
	}
	p.tok = scanner.EOF
}

// block reads the lists between braces. Names before local: are global.
func (p *scriptParser) block() {
	list := p.global
	for p.need('{'); p.tok != '}' && p.err == nil; {
		switch {
		case p.tok == scanner.EOF:
			p.fail("expected '}'")
		case p.tok == scanner.Ident && p.TokenText() == "extern":
			if p.next(); p.tok != scanner.String || p.TokenText() != `"C"` {
				p.fail(`expected "C": patterns match mangled names`)
			}
			p.next()
			for p.need('{'); p.tok != '}' && p.err == nil; {
				*list = append(*list, p.pattern())
				p.end()
			}
			p.need('}')
			p.need(';')
		default:
			word := p.pattern()
			switch {
			case p.tok == ':' && word == "global":
				list = p.global
				p.next()
			case p.tok == ':' && word == "local":
				list = p.local
				p.next()
			default:
				*list = append(*list, word)
				p.end()
			}
		}
	}
	p.need('}')
}

func (p *scriptParser) pattern() string {
	text := p.TokenText()
	if name, err := strconv.Unquote(text); p.tok == scanner.String && err == nil {
		text = name
	} else if p.tok != scanner.Ident {
		p.fail("expected a name or pattern")
	}
	p.places[text] = diag.InFile(p.Filename, p.Line, p.Column)
	p.next()
	return text
}

// end reads the semicolon after a pattern. The last pattern need not have one.
func (p *scriptParser) end() {
	if p.tok != '}' {
		p.need(';')
	}
}
