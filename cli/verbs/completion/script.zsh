#compdef kohort kohort-consumer-groups
# Completion of kohort and kohort-consumer-groups in zsh: `kohort completion zsh` prints it.
# What may follow is asked of kohort itself: a line that says of what kind it is, and a line for each word.

_kohort() {
  local program=kohort kind line typed=${(Q)words[1]}
  local -a lines words_shown names suffix
  case $typed in
    */kohort) program=${typed/#\~\//$HOME/} ;;
    */kohort-consumer-groups) program=${${typed/#\~\//$HOME/}%/*}/kohort ;;
  esac
  line="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX"
  lines=("${(@f)$(_KOHORT_COMPLETE=zsh command $program "$line" 2>/dev/null </dev/null)}")
  kind=$lines[1]
  case $kind in
    files | directories)
      compset -P '--[^=]#='
      if [[ $kind == files ]]; then _files; else _files -/; fi
      return ;;
    more) suffix=(-S '') ;;
  esac
  # WORD TAB DESCRIPTION becomes WORD:DESCRIPTION, with the colons of the word escaped.
  names=(${lines[2,-1]//\\/\\\\})
  names=(${names//:/\\:})
  names=(${names/$'\t'/:})
  (( $#names )) && _describe -V word names "${suffix[@]}"
}

if [[ $funcstack[1] == _kohort ]]; then
  _kohort "$@"
else
  compdef _kohort kohort kohort-consumer-groups
fi
