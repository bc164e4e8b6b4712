# Completion of kohort and kohort-consumer-groups in bash. Generated: `kohort completion bash` prints it.
#
# Commands, options and their values stand in the tables below; names of groups, topics, members and contexts come
# from `kohort _complete`, which answers within 300 ms or not at all.

_kohort_spec() {
  commands=() options=() arguments=()
  case $1 in
    'kohort')
      commands=('list' 'describe' 'validate-regex' 'dry-run' 'plan' 'gate' 'delete' 'snapshot' 'serve' 'demo' 'watch' 'completion' 'help' 'fleet' 'log' 'offsets' 'config' 'context')
      options=('--version' '--debug' '--help')
      ;;
    'kohort list')
      options=('--type*' '--state*' '--protocol*' '--match' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--watch' '--help')
      ;;
    'kohort describe')
      options=('--match' '--all-groups' '--members' '--offsets' '--state' '--migration' '--lag-time' '--last-commit' '--totals' '--only-with-lag' '--verbose' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--watch' '--help')
      arguments=('+ask groups')
      ;;
    'kohort validate-regex')
      options=('--file' '--from' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+any')
      ;;
    'kohort dry-run')
      options=('--match' '--all-groups' '--assignor' '--side' '--leader' '--compare' '--add' '--remove*' '--subscribe*' '--topic-partitions*' '--rack*' '--fail-rack*' '--svg' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+ask groups')
      ;;
    'kohort plan')
      options=('--match' '--all-groups' '--to' '--client*' '--clients' '--client-config*' '--regex*' '--concurrency' '--bounce-seconds' '--offline' '--assignor' '--svg' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+ask groups')
      ;;
    'kohort gate')
      options=('--step' '--round' '--wait' '--group' '--accept-changes' '--no-notes' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('files')
      ;;
    'kohort delete')
      options=('--match' '--all-groups' '--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+ask groups')
      ;;
    'kohort snapshot')
      options=('--match' '--all-groups' '--out' '--leaders' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--help')
      arguments=('+ask groups')
      ;;
    'kohort serve')
      options=('--listen' '--config*' '--topic*' '--data' '--fsync' '--help')
      ;;
    'kohort demo')
      options=('--force' '--help')
      arguments=('directories')
      ;;
    'kohort watch')
      options=('--every' '--for' '--until' '--commits' '--output' '--record' '--force' '--replay' '--speed' '--svg' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--help')
      arguments=('+ask groups')
      ;;
    'kohort completion')
      options=('--help')
      arguments=('words bash zsh fish')
      ;;
    'kohort help')
      options=('--output' '--help')
      arguments=('+words assignors contexts cooperative epochs exit-status lag offsets-reset protocols regexes security share-and-streams sources states static-membership two-bounces upgrade')
      ;;
    'kohort fleet')
      commands=('history' 'follow' 'audit')
      options=('--help')
      ;;
    'kohort fleet history')
      options=('--group*' '--as-of' '--since' '--until' '--out' '--report*' '--svg' '--log-dir*' '--bootstrap-server' '--command-config' '--embedded' '--context' '--topics' '--master' '--conf*' '--jars*' '--spark-log' '--output' '--columns' '--sort' '--no-header' '--help')
      ;;
    'kohort fleet follow')
      options=('--out' '--checkpoint' '--every' '--for' '--once' '--output' '--bootstrap-server' '--command-config' '--context' '--master' '--conf*' '--jars*' '--spark-log' '--help')
      ;;
    'kohort fleet audit')
      options=('--to*' '--group*' '--client*' '--clients' '--client-config*' '--regex*' '--concurrency' '--bounce-seconds' '--out' '--report*' '--snapshots*' '--log-dir*' '--embedded' '--topics' '--master' '--conf*' '--jars*' '--spark-log' '--output' '--columns' '--sort' '--no-header' '--help')
      ;;
    'kohort log')
      commands=('dump' 'verify')
      options=('--help')
      ;;
    'kohort log dump')
      options=('--group*' '--key-type*' '--from' '--to' '--batches' '--output' '--help')
      arguments=('+files')
      ;;
    'kohort log verify')
      options=('--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+directories')
      ;;
    'kohort offsets')
      commands=('reset' 'export' 'import' 'clone' 'delete')
      options=('--help')
      ;;
    'kohort offsets reset')
      options=('--match' '--all-groups' '--topic*' '--all-topics' '--to-earliest' '--to-latest' '--to-current' '--to-offset' '--shift-by' '--to-datetime' '--by-duration' '--from-file' '--to-group' '--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+ask groups')
      ;;
    'kohort offsets export')
      options=('--match' '--all-groups' '--topic*' '--with-group' '--out' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--help')
      arguments=('+ask groups')
      ;;
    'kohort offsets import')
      options=('--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('files' '+ask groups')
      ;;
    'kohort offsets clone')
      options=('--topic*' '--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('ask groups' 'ask groups')
      ;;
    'kohort offsets delete')
      options=('--match' '--all-groups' '--topic*' '--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('+ask groups')
      ;;
    'kohort config')
      commands=('get' 'set' 'unset')
      options=('--help')
      ;;
    'kohort config get')
      options=('--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('ask groups' '+ask settings')
      ;;
    'kohort config set')
      options=('--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('ask groups' '+ask settings=')
      ;;
    'kohort config unset')
      options=('--execute' '--yes' '--confirm' '--bootstrap-server' '--command-config' '--snapshot' '--embedded' '--log-dir*' '--as-of' '--topics' '--context' '--timeout' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('ask groups' '+ask settings')
      ;;
    'kohort context')
      commands=('list' 'show' 'use' 'add' 'remove' 'rename')
      options=('--help')
      ;;
    'kohort context list')
      options=('--output' '--columns' '--sort' '--no-header' '--help')
      ;;
    'kohort context show')
      options=('--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('ask contexts')
      ;;
    'kohort context use')
      options=('--none' '--help')
      arguments=('ask contexts')
      ;;
    'kohort context add')
      options=('--bootstrap-server' '--snapshot' '--embedded' '--log-dir*' '--command-config' '--property*' '--secret*' '--secret-env*' '--secret-file*' '--as-of' '--topics' '--timeout' '--output' '--protected' '--use' '--help')
      arguments=('any')
      ;;
    'kohort context remove')
      options=('--execute' '--yes' '--confirm' '--output' '--columns' '--sort' '--no-header' '--help')
      arguments=('ask contexts')
      ;;
    'kohort context rename')
      options=('--help')
      arguments=('ask contexts' 'any')
      ;;
    'kohort-consumer-groups')
      options=('--all-groups' '--all-topics' '--bootstrap-server' '--by-duration' '--command-config' '--delete' '--delete-offsets' '--describe' '--dry-run' '--execute' '--export' '--from-file' '--group*' '--help' '--list' '--members' '--offsets' '--reset-offsets' '--shift-by' '--state' '--timeout' '--to-current' '--to-datetime' '--to-earliest' '--to-latest' '--to-offset' '--topic*' '--type' '--validate-regex' '--verbose' '--version')
      ;;
    *) return 1 ;;
  esac
}

_kohort_value() {
  case "$1 $2" in
    *' --add') value='any' ;;
    *' --as-of') value='any' ;;
    *' --assignor') value='words cooperative-sticky range roundrobin sticky uniform' ;;
    *' --bootstrap-server') value='any' ;;
    *' --bounce-seconds') value='any' ;;
    *' --by-duration') value='any' ;;
    *' --checkpoint') value='directories' ;;
    *' --client') value='words aiokafka franz-go java kafka-python kafkajs librdkafka sarama' ;;
    *' --client-config') value='files' ;;
    *' --clients') value='files' ;;
    *' --columns') value='any' ;;
    *' --command-config') value='files' ;;
    *' --concurrency') value='any' ;;
    *' --conf') value='any' ;;
    *' --config') value='any' ;;
    *' --confirm') value='ask contexts' ;;
    *' --context') value='ask contexts' ;;
    *' --data') value='directories' ;;
    *' --embedded') value='directories' ;;
    *' --every') value='any' ;;
    *' --fail-rack') value='any' ;;
    *' --file') value='files' ;;
    *' --for') value='any' ;;
    'kohort validate-regex --from') value='words java librdkafka' ;;
    'kohort log dump --from') value='any' ;;
    *' --from-file') value='files' ;;
    *' --fsync') value='words always interval' ;;
    'kohort gate --group') value='ask groups' ;;
    'kohort fleet history --group') value='ask groups' ;;
    'kohort fleet audit --group') value='any' ;;
    'kohort log dump --group') value='any' ;;
    'kohort-consumer-groups --group') value='ask groups' ;;
    *' --jars') value='files' ;;
    *' --key-type') value='any' ;;
    *' --leader') value='words java librdkafka' ;;
    *' --listen') value='any' ;;
    *' --log-dir') value='directories' ;;
    *' --master') value='any' ;;
    *' --match') value='any' ;;
    'kohort snapshot --out') value='files' ;;
    'kohort fleet history --out') value='directories' ;;
    'kohort fleet follow --out') value='directories' ;;
    'kohort fleet audit --out') value='directories' ;;
    'kohort offsets export --out') value='files' ;;
    'kohort list --output') value='words table json yaml csv markdown html' ;;
    'kohort describe --output') value='words table json yaml csv markdown html' ;;
    'kohort validate-regex --output') value='words table json yaml csv markdown html' ;;
    'kohort dry-run --output') value='words table json yaml csv markdown html' ;;
    'kohort plan --output') value='words table json yaml csv markdown html' ;;
    'kohort gate --output') value='words table json yaml csv markdown html' ;;
    'kohort delete --output') value='words table json yaml csv markdown html' ;;
    'kohort watch --output') value='words table json' ;;
    'kohort help --output') value='words text markdown json' ;;
    'kohort fleet history --output') value='words table json yaml csv markdown html' ;;
    'kohort fleet follow --output') value='words table json' ;;
    'kohort fleet audit --output') value='words table json yaml csv markdown html' ;;
    'kohort log dump --output') value='words table ndjson json yaml csv' ;;
    'kohort log verify --output') value='words table json yaml csv markdown html' ;;
    'kohort offsets reset --output') value='words table json yaml csv markdown html' ;;
    'kohort offsets import --output') value='words table json yaml csv markdown html' ;;
    'kohort offsets clone --output') value='words table json yaml csv markdown html' ;;
    'kohort offsets delete --output') value='words table json yaml csv markdown html' ;;
    'kohort config get --output') value='words table json yaml csv markdown html' ;;
    'kohort config set --output') value='words table json yaml csv markdown html' ;;
    'kohort config unset --output') value='words table json yaml csv markdown html' ;;
    'kohort context list --output') value='words table json yaml csv markdown html' ;;
    'kohort context show --output') value='words table json yaml csv markdown html' ;;
    'kohort context add --output') value='words table json yaml csv markdown html' ;;
    'kohort context remove --output') value='words table json yaml csv markdown html' ;;
    *' --property') value='any' ;;
    *' --protocol') value='list consumer connect share streams cooperative-sticky range roundrobin sticky uniform' ;;
    *' --rack') value='ask members=' ;;
    *' --record') value='files' ;;
    *' --regex') value='any' ;;
    *' --remove') value='ask members' ;;
    *' --replay') value='files' ;;
    *' --report') value='files' ;;
    *' --round') value='any' ;;
    *' --secret') value='any' ;;
    *' --secret-env') value='any' ;;
    *' --secret-file') value='any' ;;
    *' --shift-by') value='any' ;;
    *' --side') value='words client broker' ;;
    *' --since') value='any' ;;
    *' --snapshot') value='files' ;;
    *' --snapshots') value='directories' ;;
    *' --sort') value='any' ;;
    *' --speed') value='any' ;;
    'kohort list --state') value='list PreparingRebalance CompletingRebalance Assigning Reconciling Stable Empty Dead NotReady Unknown' ;;
    'kohort-consumer-groups --state') value='?list PreparingRebalance CompletingRebalance Assigning Reconciling Stable Empty Dead NotReady Unknown' ;;
    *' --step') value='any' ;;
    *' --subscribe') value='ask members=' ;;
    *' --svg') value='files' ;;
    *' --timeout') value='any' ;;
    'kohort plan --to') value='words cooperative consumer eager classic generic' ;;
    'kohort fleet audit --to') value='words cooperative consumer' ;;
    'kohort log dump --to') value='any' ;;
    *' --to-datetime') value='any' ;;
    *' --to-group') value='ask groups' ;;
    *' --to-offset') value='any' ;;
    'kohort serve --topic') value='any' ;;
    'kohort offsets reset --topic') value='ask topics' ;;
    'kohort offsets export --topic') value='ask topics' ;;
    'kohort offsets clone --topic') value='ask topics' ;;
    'kohort offsets delete --topic') value='ask topics' ;;
    'kohort-consumer-groups --topic') value='ask topics' ;;
    *' --topic-partitions') value='ask topics=' ;;
    *' --topics') value='files' ;;
    'kohort list --type') value='list classic consumer share streams' ;;
    'kohort-consumer-groups --type') value='?list classic consumer share streams' ;;
    *' --until') value='any' ;;
    *' --validate-regex') value='any' ;;
    *' --wait') value='?any' ;;
    *' --watch') value='any' ;;
    *' -b') value='any' ;;
    *' -o') value='files' ;;
    *) value='' ;;
  esac
}

_kohort_source() {
  case $1 in
    --bootstrap-server) source=--bootstrap-server ;;
    -b) source=--bootstrap-server ;;
    --command-config) source=--command-config ;;
    --snapshot) source=--snapshot ;;
    --embedded) source=--embedded ;;
    --log-dir) source=--log-dir ;;
    --as-of) source=--as-of ;;
    --topics) source=--topics ;;
    --context) source=--context ;;
    *) source='' ;;
  esac
}

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
