# Made by: ptxlink completion fish

function __ptxlink_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l last (commandline -ct)
    set -l option (string match -r -- '^-[^=]*=' "$last")
    for line in ($program $words "$last" --generate-bash-completion 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r '^-[^=]*=' '' -- "$last") | string replace -r '^' -- "$option"
            case :directories
                __fish_complete_directories (string replace -r '^-[^=]*=' '' -- "$last") | string replace -r '^' -- "$option"
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c ptxlink -f -a '(__ptxlink_complete)'
