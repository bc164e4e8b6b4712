# Completion of kohort and kohort-consumer-groups in bash: `kohort completion bash` prints it.
# What may follow is asked of kohort itself: a line that says of what kind it is, and a line for each word.

_kohort() {
  local program=kohort kind word
  case $1 in
    */kohort) program=$1 ;;
    */kohort-consumer-groups) program=${1%/*}/kohort ;;
  esac
  COMPREPLY=()
  {
    read -r kind
    while IFS= read -r word; do COMPREPLY+=("$word"); done
  } < <(_KOHORT_COMPLETE=bash command "${program/#\~\//$HOME/}" "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" \
    2>/dev/null </dev/null)
  case $kind in
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
    more) compopt -o nospace ;;
  esac
}

if type compopt &>/dev/null; then
  complete -F _kohort kohort kohort-consumer-groups
else # bash before 4.0 completes files for whatever is not known
  compopt() { :; }
  complete -o default -F _kohort kohort kohort-consumer-groups
fi
