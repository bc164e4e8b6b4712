#compdef kohort kohort-consumer-groups
# Completion of kohort and kohort-consumer-groups in zsh. Generated: `kohort completion zsh` prints it.
#
# Commands, options and their values stand in the tables below; names of groups, topics, members and contexts come
# from `kohort _complete`, which answers within 300 ms or not at all.

# TABLES

# A word without its quotes, into `plain`. Only plain variables are expanded; nothing is run.
_kohort_plain() {
  local name
  case $1 in
    \$[A-Za-z_]* | \$\{[A-Za-z_]* | \"\$[A-Za-z_]* | \"\$\{[A-Za-z_]*)
      name=${${(Q)1}//[\$\{\}]/}
      if [[ $name == [A-Za-z0-9_]## ]]; then plain=${(P)name}; else plain=${(Q)1}; fi ;;
    '~'/*) plain=$HOME/${(Q)1#\~/} ;;
    *) plain=${(Q)1} ;;
  esac
}

# Offer names of the kind $1 that a source knows.
_kohort_ask() {
  local program=kohort plain
  local -a found suffix
  _kohort_plain $kohort_program
  case $plain in
    */kohort) program=$plain ;;
    */kohort-consumer-groups) program=${plain%/*}/kohort ;;
  esac
  found=(${(f)"$(command $program _complete $1 "${sources[@]}" -- "${typed[@]}" 2>/dev/null </dev/null)"})
  if [[ -n $guarded ]]; then found=(${found:#-*}); fi
  # NAME TAB DESCRIPTION becomes NAME:DESCRIPTION, with the colons of the name escaped.
  found=(${found//\\/\\\\})
  found=(${found//:/\\:})
  found=(${found/$'\t'/:})
  if [[ $1 == *= ]]; then suffix=(-S ''); fi
  if (( $#found )); then _describe -t ${1%=} ${1%=} found "${suffix[@]}"; fi
}

# Offer what an entry of the tables stands for.
_kohort_values() {
  local -a known
  local entry=$1 expl
  known=(${=entry#* })
  case $entry in
    files*) _files ;;
    directories*) _files -/ ;;
    words*) _wanted values expl value compadd -a known ;;
    list*)
      compset -P '*,'
      _wanted values expl value compadd -a known ;;
    ask*) _kohort_ask $known[1] ;;
  esac
}

_kohort() {
  local value source pending ended guarded plain word kohort_program=$words[1] kohort_path=kohort name description
  local -a commands options arguments sources typed given offered
  local -i i
  if [[ ${kohort_program:t} == kohort-consumer-groups ]]; then kohort_path=kohort-consumer-groups; fi
  _kohort_spec $kohort_path
  for ((i = 2; i < CURRENT; i++)); do
    _kohort_plain $words[i]
    word=$plain
    if [[ -n $pending ]]; then
      _kohort_value $kohort_path $pending
      if [[ $value != \?* || $word != -* ]]; then
        _kohort_source $pending
        if [[ -n $source ]]; then sources+=($source "$word"); fi
        pending=''
        continue
      fi
      pending=''
    fi
    if [[ -n $ended || $word != -?* ]]; then
      if (( $#commands )); then
        kohort_path+=" $word"
        _kohort_spec $kohort_path || return 1
      else
        typed+=("$word")
      fi
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == --*=* ]]; then
      given+=(${word%%=*})
      _kohort_source ${word%%=*}
      if [[ -n $source ]]; then sources+=($source "${word#*=}"); fi
    else
      given+=($word)
      _kohort_value $kohort_path $word
      if [[ -n $value ]]; then
        pending=$word
      elif [[ $word == -[^-]?* ]]; then
        _kohort_source $word[1,2]
        if [[ -n $source ]]; then sources+=($source "$word[3,-1]"); fi
      fi
    fi
  done

  if [[ -n $pending ]]; then
    _kohort_value $kohort_path $pending
    if [[ $value != \?* || $PREFIX != -* ]]; then
      _kohort_values ${value#\?}
      return
    fi
  fi
  if [[ -z $ended && $PREFIX == --*=* ]]; then
    _kohort_value $kohort_path ${PREFIX%%=*}
    compset -P '--[^=]#='
    _kohort_values ${value#\?}
    return
  fi
  if (( $#commands )) && [[ $PREFIX != -* ]]; then
    _describe -t commands command commands
    return
  fi
  value=''
  if (( $#typed < $#arguments )); then
    value=$arguments[$#typed+1]
  elif [[ $arguments[-1] == +* ]]; then
    value=$arguments[-1]
  fi
  if [[ -n $ended || ( $PREFIX != -* && -n $value ) ]]; then
    if [[ -z $ended ]]; then guarded=1; fi
    _kohort_values ${value#+}
    return
  fi
  for word in "${options[@]}"; do
    name=${word%%:*} description=${word#*:}
    if [[ $name == *\* || -z ${(M)given:#$name} ]]; then offered+=("${name%\*}:$description"); fi
  done
  _describe -o -t options option offered
}

if [[ $funcstack[1] == _kohort ]]; then
  _kohort "$@"
else
  compdef _kohort kohort kohort-consumer-groups
fi
