#compdef ptxlink
# Made by: ptxlink completion zsh

_ptxlink() {
  local line word files
  local -a found assigned
  for line in "${(@f)$(${(Q)words[1]} "${(@Q)words[2,CURRENT]}" --generate-bash-completion 2>/dev/null)}"; do
    case $line in
      (:files) files=_files ;;
      (:directories) files='_files -/' ;;
      (?*)
        word=${line%%$'\t'*}
        line="${word//:/\\:}:${line#*$'\t'}"
        if [[ $word == *= ]]; then assigned+=("$line"); else found+=("$line"); fi
        ;;
    esac
  done
  (( $#found )) && _describe ptxlink found
  (( $#assigned )) && _describe ptxlink assigned -S ''
  if [[ -n $files ]]; then
    [[ $PREFIX == -*=* ]] && compset -P '*='
    ${=files}
  fi
}

if [[ $funcstack[1] == _ptxlink ]]; then
  _ptxlink "$@"
else
  compdef _ptxlink ptxlink
fi
