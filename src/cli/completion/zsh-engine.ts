/** What reads the line and offers words: the same for every table. */
export const zshEngine = `_rosterctl() {
  local cur noun command first wanted ended answer slot list ends ask again long
  local given=' ' own=' '
  local -i count=0
  local -a typed choices aliases
  typed=("\${(@Q)words[2,CURRENT-1]}")
  cur=\${(Q)PREFIX}
  __rosterctl_walk
  __rosterctl_offer
}

# Reads the words before the cursor: noun, command, flags given, a flag that waits for its value.
__rosterctl_walk() {
  local word
  for word in "\${typed[@]}"; do
    if [[ -n $wanted ]]; then
      wanted=
    elif [[ -n $ended || $word != -?* ]]; then
      __rosterctl_place "$word"
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == --* ]]; then
      __rosterctl_flag "$command" "\${word%%=*}"
      [[ -n $again ]] || given="$given$long "
      [[ $slot == '' || $slot == switch || $word == *=* ]] || wanted=$word
    else
      __rosterctl_letters "\${word#-}"
    fi
  done
}

__rosterctl_place() {
  if [[ -z $noun ]]; then
    __rosterctl_noun "$1"
  elif [[ -z $command ]]; then
    __rosterctl_verb "$noun" "$1"
  else
    ((count > 0)) || first=$1
    ((count += 1))
  fi
}

# -qy are two switches, -pNAME is one flag with its value.
__rosterctl_letters() {
  local letters=$1
  while [[ -n $letters ]]; do
    __rosterctl_flag "$command" "-\${letters[1]}"
    letters=\${letters[2,-1]}
    [[ -n $again ]] || given="$given$long "
    [[ $slot == '' || $slot == switch ]] && continue
    [[ -n $letters ]] || wanted=$long
    return 0
  done
}

__rosterctl_offer() {
  slot= choices=() list= ends= ask= again= long=
  if [[ -n $wanted ]]; then
    __rosterctl_flag "$command" "$wanted"
  elif [[ -z $ended && $cur == --*=* ]]; then
    __rosterctl_flag "$command" "\${cur%%=*}"
    [[ $long != --json ]] || slot=fields list=1
    compset -P 1 '*='
  elif [[ -z $ended && $cur == -* ]]; then
    __rosterctl_offer_flags
    return
  elif [[ -z $noun ]]; then
    slot=nouns
  elif [[ -z $command ]]; then
    slot=verbs
  else
    __rosterctl_arg "$command" "$count"
  fi
  __rosterctl_offer_slot
}

__rosterctl_offer_slot() {
  case $slot in
    nouns) __rosterctl_words '' && __rosterctl_offer_names 'rosterctl command' ;;
    verbs) __rosterctl_words "$noun" && __rosterctl_offer_names "$noun command" ;;
    words) __rosterctl_ask && __rosterctl_offer_choices value ;;
    fields) __rosterctl_fields "$command" && __rosterctl_ask && __rosterctl_offer_choices field ;;
    topic) __rosterctl_offer_topic ;;
    file) _files ;;
    directory) _files -/ ;;
    free) _message 'a value' ;;
    *) return 1 ;;
  esac
}

__rosterctl_offer_choices() { # what they are
  local -a chosen kept
  local choice
  if [[ -n $list ]]; then
    local before=\${\${(Q)PREFIX}%,*}
    if compset -P '*,'; then
      chosen=("\${(@s:,:)before}")
    fi
  fi
  for choice in "\${choices[@]}"; do
    ((\${chosen[(Ie)\${choice%%:*}]})) || kept+=("$choice")
  done
  typeset -U kept
  _describe -t values "$1" kept \${ends:+-S} $ends
}

# What a thing is also called is offered only where its own name does not fit.
__rosterctl_offer_names() {
  _describe -t commands "$1" choices || _describe -t aliases "$1" aliases
}

__rosterctl_offer_topic() {
  if ((count == 0)); then
    local -a topics
    __rosterctl_topics
    topics=("\${choices[@]}")
    __rosterctl_words ''
    _describe -t topics 'help topic' topics -- choices -- aliases
  elif ((count == 1)); then
    noun=
    __rosterctl_noun "$first"
    __rosterctl_words "$noun"
    __rosterctl_offer_names "$noun command"
  else
    return 1
  fi
}

__rosterctl_offer_flags() {
  local -a kept
  local choice
  __rosterctl_flags "$command"
  for choice in "\${choices[@]}"; do
    [[ $given == *" \${choice%%:*} "* ]] || kept+=("$choice")
  done
  __rosterctl_global_flags
  for choice in "\${choices[@]}"; do
    [[ $given$own == *" \${choice%%:*} "* ]] || kept+=("$choice")
  done
  _describe -o -t options flag kept
}

# Ids, profiles and field names, from what this machine remembers; added to the choices.
__rosterctl_ask() {
  [[ -n $ask ]] || return 0
  local program=rosterctl line word
  local -a lines
  [[ \${(Q)words[1]} != */* || ! -x \${~\${(Q)words[1]}} ]] || program=\${~\${(Q)words[1]}}
  lines=("\${(@f)$(command $program __complete $ask -- "\${typed[@]}" 2>/dev/null </dev/null)}")
  for line in "\${lines[@]}"; do
    [[ -n $line ]] || continue
    word=\${line%%$'\\t'*}
    line=\${\${line#*$'\\t'}//\\\\/\\\\\\\\}
    word=\${\${word//\\\\/\\\\\\\\}//:/\\\\:}
    choices+=("$word\${line:+:$line}")
  done
}

# Called by the completion system as a file of its own, or sourced.
if [[ \${funcstack[1]} == _rosterctl ]]; then
  _rosterctl "$@"
elif (($+functions[compdef])); then
  compdef _rosterctl rosterctl
fi
`;
