package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func completionCommand() subcommand {
	return subcommand{
		Command: cli.Command{
			Name:      "completion",
			Usage:     "print a script that completes command lines in a shell",
			ArgsUsage: "bash|zsh|fish|powershell",
			Description: `Prints the script for a shell, made from the table of options. To use it:
  bash        source <(ptxlink completion bash)
  zsh         ptxlink completion zsh > ~/.zfunc/_ptxlink, a folder of $fpath
  fish        ptxlink completion fish > ~/.config/fish/completions/ptxlink.fish
  powershell  ptxlink completion powershell | Out-String | Invoke-Expression

Exit codes: 0 success, 2 usage error.`,
		},
		flags: commonFlags,
		run:   (*command).completion,
	}
}

// completion is ptxlink completion.
func (c *command) completion(*cli.Context) error {
	scripts := map[string]func() []byte{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}
	if len(c.inputs) != 1 || scripts[c.inputs[0].name] == nil {
		return &usageError{text: "one shell must be named: bash, zsh, fish or powershell"}
	}
	return c.show(scripts[c.inputs[0].name]())
}

// completing is what completion needs to know of an option.
type completing struct {
	words    []string // its spellings, the short ones first
	text     string
	value    string // the name of its value
	optional bool   // the value follows "=", or there is none
	files    bool
	folders  bool
	choices  []string
}

// completions returns the options of a command. An option whose value may be attached
// to its letter, with a list of values, is followed by -O0, -O1 and so on.
func (s subcommand) completions() (list []completing) {
	for _, f := range s.flags() {
		o := describeFlag(f)
		list = append(list, completing{
			words: o.spellings, text: o.text, value: o.value, optional: o.optional,
			files: o.value == "FILE" || o.value == "PATH", folders: o.value == "DIR", choices: o.words,
		})
		if name := f.Names()[0]; len(name) == 1 && strings.Contains(joined, name) {
			for _, word := range o.words {
				list = append(list, completing{words: []string{"-" + name + word}, text: strings.ReplaceAll(o.text, o.value, word)})
			}
		}
	}
	return list
}

// commandArguments are the words that complete the arguments of some subcommands; the
// others take files.
func commandArguments() map[string][]string {
	var names []string
	for _, s := range subcommands() {
		names = append(names, s.Name)
	}
	return map[string][]string{"completion": {"bash", "zsh", "fish", "powershell"}, "manual": names, "version": {}}
}

const madeBy = "# Made by: ptxlink completion %s\n"

// bashCompletion returns a script for bash 3.2 and later. It does not need the package
// bash-completion.
func bashCompletion() []byte {
	var b bytes.Buffer
	var names []string
	for _, s := range subcommands() {
		names = append(names, s.Name)
	}
	fmt.Fprintf(&b, madeBy, "bash")
	b.WriteString(`
_ptxlink() {
    local cur=${COMP_WORDS[COMP_CWORD]} option= sub= words=
    # option is the name of the option whose value is completed, without dashes; bash
    # makes a word of the = in --option=VALUE, and it then has a = in front.
    if [[ $cur == '=' ]]; then
        cur= option=${COMP_WORDS[COMP_CWORD-1]}=
    elif [[ $COMP_CWORD -ge 2 && ${COMP_WORDS[COMP_CWORD-1]} == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]}=
    elif [[ $COMP_CWORD -ge 2 ]]; then
        option=${COMP_WORDS[COMP_CWORD-1]}
    fi
    case $option in
    --*) option=${option#--} ;;
    -*) option=${option#-} ;;
    *) option= ;;
    esac
    [[ $option == *= ]] && option="=${option%=}"
    [[ $COMP_CWORD -ge 2 ]] && sub=${COMP_WORDS[1]}
    COMPREPLY=()
    compopt +o default 2>/dev/null
    local IFS=$'\n'
    case $sub in
`)
	for _, s := range slices.Concat(subcommands(), []subcommand{linking()}) {
		pattern := s.Name
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(&b, "    %s)\n        case $option in\n", pattern)
		var all []string
		for _, o := range s.completions() {
			for _, w := range o.words {
				all = append(all, w)
				if o.optional {
					all = append(all, w+"=")
				}
			}
			if o.value == "" {
				continue
			}
			var patterns []string
			for _, w := range o.words {
				name := strings.TrimLeft(w, "-")
				patterns = append(patterns, "="+name)
				if !o.optional {
					patterns = append(patterns, name)
				}
			}
			action := "return"
			switch {
			case o.files:
				action = "_ptxlink_files -f; return"
			case o.folders:
				action = "_ptxlink_files -d; return"
			case len(o.choices) > 0:
				action = fmt.Sprintf("COMPREPLY=( $(compgen -W $'%s' -- \"$cur\") ); return", strings.Join(o.choices, `\n`))
			}
			fmt.Fprintf(&b, "        %s) %s ;;\n", strings.Join(patterns, "|"), action)
		}
		fmt.Fprintf(&b, "        esac\n        words=$'%s'", strings.Join(all, `\n`))
		if arguments, ok := commandArguments()[s.Name]; ok {
			fmt.Fprintf(&b, "\n        [[ $cur == -* ]] || { COMPREPLY=( $(compgen -W $'%s' -- \"$cur\") ); return; }", strings.Join(arguments, `\n`))
		}
		b.WriteString(" ;;\n")
	}
	fmt.Fprintf(&b, `    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=( $(compgen -W "$words" -- "$cur") )
        [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
        return
    fi
    _ptxlink_files -f
    [[ $COMP_CWORD == 1 ]] && COMPREPLY+=( $(compgen -W $'%s' -- "$cur") )
}

_ptxlink_files() {
    compopt -o filenames 2>/dev/null
    COMPREPLY=( $(compgen $1 -- "$cur") )
}

complete -F _ptxlink ptxlink
`, strings.Join(names, `\n`))
	return b.Bytes()
}

// zshCompletion returns a script for zsh, to be called _ptxlink.
func zshCompletion() []byte {
	var b bytes.Buffer
	b.WriteString("#compdef ptxlink\n")
	fmt.Fprintf(&b, madeBy, "zsh")
	b.WriteString(`
_ptxlink() {
  local -a commands
  commands=(
`)
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "    %s\n", quote(zsh(s.Name)+":"+zsh(s.Usage)))
	}
	b.WriteString("  )\n  local curcontext=$curcontext\n  case ${words[2]} in\n")
	for _, s := range slices.Concat(subcommands(), []subcommand{linking()}) {
		shift := "    shift words; (( CURRENT-- ))\n"
		pattern := s.Name + ")\n    (( CURRENT > 2 )) || { _ptxlink_first; return }\n"
		if s.Name == "" {
			pattern, shift = "*)\n    [[ $CURRENT -gt 2 || ${words[2]} == -* ]] || { _ptxlink_first; return }\n", ""
		}
		fmt.Fprintf(&b, "  %s%s    _arguments -S", pattern, shift)
		for _, o := range s.completions() {
			for _, w := range o.words {
				mark := w
				action := ""
				if o.value != "" {
					action = ":" + zsh(o.value) + ":"
					mark += "="
					switch {
					case o.optional:
						mark += "-"
						action = ":" + action
					case len(w) == 2:
						mark = w + "+"
					}
					switch {
					case o.files:
						action += "_files"
					case o.folders:
						action += "_files -/"
					case len(o.choices) > 0:
						action += "(" + strings.Join(o.choices, " ") + ")"
					default:
						action += " "
					}
				}
				fmt.Fprintf(&b, " \\\n      %s", quote("*"+mark+"["+zsh(o.text)+"]"+action))
			}
		}
		rest := "*:file:_files"
		if arguments, ok := commandArguments()[s.Name]; ok {
			rest = "*:argument:(" + strings.Join(arguments, " ") + ")"
		}
		fmt.Fprintf(&b, " \\\n      %s ;;\n", quote(rest))
	}
	b.WriteString(`  esac
}

_ptxlink_first() {
  _alternative 'files:file:_files' 'commands:command:{_describe -t commands command commands}'
}

if [[ $funcstack[1] == _ptxlink ]]; then
  _ptxlink "$@"
else
  compdef _ptxlink ptxlink
fi
`)
	return b.Bytes()
}

// zsh escapes what has a meaning in an argument of _arguments.
func zsh(text string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(text)
}

// quote quotes a word for a POSIX shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// fishCompletion returns a script for fish.
func fishCompletion() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, madeBy, "fish")
	b.WriteString(`
# The subcommand is the first argument. A file may have its name later.
function __ptxlink_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"
end

function __ptxlink_link
    set -l words (commandline -opc)
    test (count $words) -lt 2; and return 0
    not contains -- "$words[2]"`)
	for _, s := range subcommands() {
		b.WriteString(" " + s.Name)
	}
	b.WriteString("\nend\n\n")
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "complete -c ptxlink -n 'test (count (commandline -opc)) -eq 1' -a %s -d %s\n", s.Name, fish(s.Usage))
	}
	for _, s := range slices.Concat([]subcommand{linking()}, subcommands()) {
		condition := "__ptxlink_link"
		if s.Name != "" {
			condition = "'__ptxlink_command " + s.Name + "'"
		}
		if arguments, ok := commandArguments()[s.Name]; ok {
			fmt.Fprintf(&b, "complete -c ptxlink -n %s -f -a %s\n", condition, fish(strings.Join(arguments, " ")))
		}
		for _, o := range s.completions() {
			fmt.Fprintf(&b, "complete -c ptxlink -n %s", condition)
			for _, w := range o.words {
				switch name := strings.TrimLeft(w, "-"); {
				case strings.HasPrefix(w, "--"):
					b.WriteString(" -l " + name)
				case len(name) == 1:
					b.WriteString(" -s " + name)
				default:
					b.WriteString(" -o " + name)
				}
			}
			switch {
			case o.value == "" || o.optional:
			case o.files:
				b.WriteString(" -r -F")
			case o.folders:
				b.WriteString(" -x -a '(__fish_complete_directories)'")
			default:
				b.WriteString(" -x")
			}
			if len(o.choices) > 0 {
				b.WriteString(" -a " + fish(strings.Join(o.choices, " ")))
			}
			b.WriteString(" -d " + fish(o.text) + "\n")
		}
	}
	return b.Bytes()
}

// fish quotes a word for fish.
func fish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// powershellCompletion returns a script for PowerShell 5 and later.
func powershellCompletion() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, madeBy, "powershell")
	b.WriteString(`
Register-ArgumentCompleter -Native -CommandName ptxlink -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | ForEach-Object { $_.ToString() })
    $sub = ''
    if ($words.Count -gt 2 -or ($words.Count -eq 2 -and $wordToComplete -eq '')) { $sub = $words[1] }
    # Spelling, text, values. Without values, files complete the word.
    $table = @(
`)
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "        @('first', %s, %s, @())\n", powershell(s.Name), powershell(s.Usage))
	}
	for _, s := range allCommands() {
		for _, o := range s.completions() {
			for _, w := range o.words {
				var choices []string
				for _, c := range o.choices {
					choices = append(choices, powershell(c))
				}
				fmt.Fprintf(&b, "        @(%s, %s, %s, @(%s))\n", powershell(s.Name), powershell(w), powershell(o.text), strings.Join(choices, ", "))
			}
		}
		for _, argument := range commandArguments()[s.Name] {
			fmt.Fprintf(&b, "        @(%s, %s, '%s', @())\n", powershell(s.Name), powershell(argument), argument)
		}
	}
	b.WriteString(`    )
    $subs = @($table | Where-Object { $_[0] -ceq 'first' } | ForEach-Object { $_[1] })
    $own = ''
    if ($subs -ccontains $sub) { $own = $sub }
    $before = $words[-1]
    if ($wordToComplete -ne '' -and $words.Count -ge 2) { $before = $words[-2] }
    $rows = @($table | Where-Object { $_[0] -ceq $own -or ($sub -eq '' -and $_[0] -ceq 'first') })
    $values = @($rows | Where-Object { $_[1] -ceq $before } | ForEach-Object { $_[3] })
    if ($values.Count -gt 0) {
        $values | Where-Object { $_ -clike "$wordToComplete*" } | ForEach-Object {
            [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
        }
        return
    }
    if ($wordToComplete -eq '' -and $sub -ne '') { return }
    $rows | Where-Object { $_[1] -clike "$wordToComplete*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_[1], $_[1], 'ParameterName', $_[2])
    }
}
`)
	return b.Bytes()
}

// powershell quotes a word for PowerShell.
func powershell(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
