# Made by: ptxlink completion bash
# For bash 3.2 and later; it does not need the package bash-completion.

_ptxlink() {
    local cur=${COMP_WORDS[COMP_CWORD]} word line part i words=()
    # bash makes a word of the = in --option=VALUE. ptxlink gets the option in one piece,
    # and bash the part of the answer after the =.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && ($word == '=' || $part == '=') ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        part=$word
    done
    word=${words[${#words[@]}-1]}
    [[ $cur == '=' ]] && cur=
    part=${word%"$cur"}
    COMPREPLY=()
    compopt +o default 2>/dev/null
    while IFS= read -r line; do
        case $line in
        :files) _ptxlink_files -f ;;
        :directories) _ptxlink_files -d ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$part"}")
            ;;
        esac
    done < <("${1/#\~/$HOME}" "${words[@]}" --generate-bash-completion 2>/dev/null)
    [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
}

_ptxlink_files() {
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen "$1" -- "$cur"))
}

complete -F _ptxlink ptxlink
