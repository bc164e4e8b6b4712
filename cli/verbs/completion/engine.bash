# Completion of kohort and kohort-consumer-groups in bash. Generated: `kohort completion bash` prints it.
#
# Commands, options and their values stand in the tables below; names of groups, topics, members and contexts come
# from `kohort _complete`, which answers within 300 ms or not at all.

# TABLES

# Take the line apart up to the cursor, as the shell would: _kohort_words are the words before the one that is
# completed, `current` is that one without its quotes, `before` the part of it that readline leaves alone, and
# `quote` the quote that is open. Only plain variables are expanded; nothing is run.
_kohort_split() {
  local line=${COMP_LINE:0:COMP_POINT} i c next name
  local word='' is_word=''
  quote='' before='' _kohort_words=()
  for ((i = 0; i < ${#line}; i++)); do
    c=${line:i:1} next=${line:i+1:1}
    case "$quote|$c" in
      "'|'" | '"|"') quote='' ;;
      "'|"*) word+=$c ;;
      '"|\')
        if [[ $next == [\$\`\"\\] ]]; then word+=$next i=$((i + 1)); else word+=$c; fi ;;
      '|$' | '"|$')
        is_word=1
        if [[ ${line:i+1} =~ ^([A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\}) ]]; then
          name=${BASH_REMATCH[1]} i=$((i + ${#BASH_REMATCH[1]})) name=${name//[\{\}]/}
          word+=${!name-}
        else
          word+=$c
        fi ;;
      '"|'*) word+=$c ;;
      '|'[[:space:]])
        if [[ $is_word ]]; then _kohort_words+=("$word"); fi
        word='' is_word='' before='' ;;
      '|\') word+=$next is_word=1 i=$((i + 1)) ;;
      "|'" | '|"') quote=$c is_word=1 before=$word ;;
      '|~')
        if [[ ! $is_word && ($next == / || $next == [[:space:]]) ]]; then word+=$HOME; else word+=$c; fi
        is_word=1 ;;
      *)
        if [[ $COMP_WORDBREAKS == *"$c"* ]]; then
          before=$word
          if [[ $c != @ ]]; then before+=$c; fi # readline takes a host's @ for a part of the word behind it
        fi
        word+=$c is_word=1 ;;
    esac
  done
  current=$word
}

# Names that a source knows, into `found`.
_kohort_ask() {
  local program=kohort name
  case ${_kohort_words[0]} in
    */kohort) program=${_kohort_words[0]} ;;
    */kohort-consumer-groups) program=${_kohort_words[0]%/*}/kohort ;;
  esac
  found=()
  while IFS=$'\t' read -r name _; do
    found+=("$name")
  done < <(command "$program" _complete "$1" ${sources[@]+"${sources[@]}"} -- ${typed[@]+"${typed[@]}"} \
    2>/dev/null </dev/null)
}

# Offer those of the words behind $1 that begin with `current`, each behind the text $1, quoted as they must be.
_kohort_offer() {
  local prefix=$1 word
  shift
  for word in "$@"; do
    word=$prefix$word
    # Without its arguments an option or a name would be read as something else.
    if [[ $word != "$current"* || ($word == -* && $guarded) ]]; then continue; fi
    word=${word:${#before}}
    case $quote in
      "'") word=${word//\'/\'\\\'\'} ;;
      '"')
        word=${word//\\/\\\\} word=${word//\"/\\\"} word=${word//\$/\\\$} word=${word//\`/\\\`}
        word=${word//!/\"\\!\"} ;;
      *)
        if [[ $word ]]; then printf -v word %q "$word"; fi
        word=${word//\\,/,} ;;
    esac
    # Readline takes a quote at the beginning for the one that is open, and one at the end for the closing one.
    if [[ $quote && $word == "$quote"* ]]; then word=$quote$word; fi
    if [[ $quote && $word == *"$quote" ]]; then word+=$quote; fi
    COMPREPLY+=("$word")
  done
}

# Offer what an entry of the tables stands for, behind the text $2 of the word.
_kohort_offer_values() {
  local entry=$1 prefix=$2 found known
  read -r -a known <<<"${entry#* }"
  case $entry in
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
    words*) _kohort_offer "$prefix" "${known[@]}" ;;
    list*)
      if [[ $current == *,* ]]; then prefix=${current%,*},; fi
      _kohort_offer "$prefix" "${known[@]}" ;;
    ask*)
      if [[ $entry == *= ]]; then compopt -o nospace; fi
      _kohort_ask "${known[0]}"
      _kohort_offer "$prefix" ${found[@]+"${found[@]}"} ;;
  esac
}

_kohort() {
  local IFS=$' \t\n' quote before current value source pending='' ended='' guarded=''
  local -a _kohort_words commands options arguments sources=() typed=() given=()
  COMPREPLY=()
  _kohort_split
  local path=kohort word position i
  if [[ ${_kohort_words[0]##*/} == kohort-consumer-groups ]]; then path=kohort-consumer-groups; fi
  _kohort_spec "$path"
  for ((i = 1; i < ${#_kohort_words[@]}; i++)); do
    word=${_kohort_words[i]}
    if [[ $pending ]]; then
      _kohort_value "$path" "$pending"
      if [[ $value != \?* || $word != -* ]]; then
        _kohort_source "$pending"
        if [[ $source ]]; then sources+=("$source" "$word"); fi
        pending=''
        continue
      fi
      pending=''
    fi
    if [[ $ended || $word != -?* ]]; then
      if ((${#commands[@]})); then
        path+=" $word"
        _kohort_spec "$path" || return 0
      else
        typed+=("$word")
      fi
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == --*=* ]]; then
      given+=("${word%%=*}")
      _kohort_source "${word%%=*}"
      if [[ $source ]]; then sources+=("$source" "${word#*=}"); fi
    else
      given+=("$word")
      _kohort_value "$path" "$word"
      if [[ $value ]]; then
        pending=$word
      elif [[ $word == -[!-]?* ]]; then
        _kohort_source "${word:0:2}"
        if [[ $source ]]; then sources+=("$source" "${word:2}"); fi
      fi
    fi
  done

  if [[ $pending ]]; then
    _kohort_value "$path" "$pending"
    if [[ $value != \?* || $current != -* ]]; then
      _kohort_offer_values "${value#\?}" ''
      return 0
    fi
  fi
  if [[ ! $ended && $current == --*=* ]]; then
    _kohort_value "$path" "${current%%=*}"
    _kohort_offer_values "${value#\?}" "${current%%=*}="
    return 0
  fi
  if ((${#commands[@]})) && [[ $current != -* ]]; then
    _kohort_offer '' "${commands[@]}"
    return 0
  fi
  position=${#typed[@]} value=''
  if ((position < ${#arguments[@]})); then
    value=${arguments[position]}
  elif ((${#arguments[@]})) && [[ ${arguments[${#arguments[@]} - 1]} == +* ]]; then
    value=${arguments[${#arguments[@]} - 1]}
  fi
  if [[ $ended || ($current != -* && $value) ]]; then
    if [[ ! $ended ]]; then guarded=1; fi
    _kohort_offer_values "${value#+}" ''
    return 0
  fi
  for word in "${options[@]}"; do
    if [[ $word != *\* && " ${given[*]} " == *" $word "* ]]; then continue; fi
    _kohort_offer '' "${word%\*}"
  done
}

if type compopt &>/dev/null; then
  complete -F _kohort kohort kohort-consumer-groups
else # bash before 4.0 completes files for whatever is not known
  compopt() { :; }
  complete -o default -F _kohort kohort kohort-consumer-groups
fi
