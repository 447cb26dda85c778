/** What reads the line, offers words and quotes them: the same for every table. */
export const bashEngine = `_rosterctl() { # command, the text that readline will replace
  local IFS=$' \\t\\n' tail=\${2-} raw= cur= head= prefix=
  local noun= command= first= wanted= ended= given=' ' own=' ' count=0 answer=
  local slot= list= ends= ask= again= long=
  local -a typed choices aliases found notes lines
  typed=() found=() notes=() lines=()
  COMPREPLY=()
  __rosterctl_split
  __rosterctl_walk
  __rosterctl_offer
  __rosterctl_reply
}

# The line up to the cursor; COMP_POINT counts bytes.
__rosterctl_lead() {
  local LC_ALL=C
  answer=\${COMP_LINE:0:COMP_POINT}
}

# COMP_WORDS is cut at = and : as well; what stands together on the line is one word here.
__rosterctl_split() {
  local i rest word
  __rosterctl_lead
  local lead=$answer
  for ((i = 0; i <= COMP_CWORD; i++)); do
    rest=\${lead#"\${lead%%[![:space:]]*}"}
    word=\${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || word=$rest
    if ((i > 0)) && [[ $rest == "$lead" ]]; then
      raw=$raw$word
    else
      ((i == 0)) || typed[\${#typed[@]}]=$raw
      raw=$word
    fi
    lead=\${rest#"$word"}
  done
  head=\${raw%"$tail"}
  __rosterctl_unquote "$raw"
  cur=$answer
}

__rosterctl_unquote() {
  answer=\${1//[\\\\\\"\\']/}
}

# Reads the words before the cursor: noun, command, flags given, a flag that waits for its value.
__rosterctl_walk() {
  local i word
  for ((i = 1; i < \${#typed[@]}; i++)); do
    __rosterctl_unquote "\${typed[i]}"
    word=$answer
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
    count=$((count + 1))
  fi
}

# -qy are two switches, -pNAME is one flag with its value.
__rosterctl_letters() {
  local letters=$1
  while [[ -n $letters ]]; do
    __rosterctl_flag "$command" "-\${letters:0:1}"
    letters=\${letters:1}
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
    prefix=\${cur%%=*}=
    __rosterctl_flag "$command" "\${cur%%=*}"
    [[ $long != --json ]] || slot=fields list=1
  elif [[ -z $ended && $cur == -* ]]; then
    __rosterctl_offer_flags
    return 0
  elif [[ -z $noun ]]; then
    slot=nouns
  elif [[ -z $command ]]; then
    slot=verbs
  else
    __rosterctl_arg "$command" "$count"
  fi
  [[ -z $list || \${cur#"$prefix"} != *,* ]] || prefix=\${cur%,*},
  __rosterctl_offer_slot
}

__rosterctl_offer_slot() {
  case $slot in
    nouns) __rosterctl_words '' && __rosterctl_offer_names ;;
    verbs) __rosterctl_words "$noun" && __rosterctl_offer_names ;;
    words) __rosterctl_offer_choices && __rosterctl_ask ;;
    fields) __rosterctl_fields "$command" && __rosterctl_offer_choices && __rosterctl_ask ;;
    topic) __rosterctl_offer_topic ;;
    file | directory) __rosterctl_offer_paths ;;
  esac
}

__rosterctl_add() { # word, note
  [[ $prefix$1 == "$cur"* ]] || return 0
  [[ -z $list || ,\${prefix#*=} != *",$1,"* ]] || return 0
  found[\${#found[@]}]=$1
  notes[\${#notes[@]}]=\${2-}
}

__rosterctl_offer_choices() {
  local word
  for word in \${choices[@]+"\${choices[@]}"}; do
    __rosterctl_add "$word"
  done
}

# What a thing is also called is offered only where its own name does not fit.
__rosterctl_offer_names() {
  __rosterctl_offer_choices
  ((\${#found[@]} == 0)) || return 0
  choices=(\${aliases[@]+"\${aliases[@]}"})
  __rosterctl_offer_choices
}

__rosterctl_offer_topic() {
  if ((count == 0)); then
    __rosterctl_topics
    __rosterctl_offer_choices
    __rosterctl_words ''
    __rosterctl_offer_names
  elif ((count == 1)); then
    noun=
    __rosterctl_noun "$first"
    __rosterctl_words "$noun"
    __rosterctl_offer_names
  fi
}

__rosterctl_offer_flags() {
  local word
  __rosterctl_flags "$command"
  for word in \${choices[@]+"\${choices[@]}"}; do
    [[ $given == *" $word "* ]] || __rosterctl_add "$word"
  done
  __rosterctl_global_flags
  for word in "\${choices[@]}"; do
    [[ $given$own == *" $word "* ]] || __rosterctl_add "$word"
  done
}

# Ids, profiles and field names, from what this machine remembers.
__rosterctl_ask() {
  [[ -n $ask ]] || return 0
  local program=rosterctl line i
  local -a before
  before=()
  for ((i = 1; i < \${#typed[@]}; i++)); do
    __rosterctl_unquote "\${typed[i]}"
    before[\${#before[@]}]=$answer
  done
  __rosterctl_unquote "\${COMP_WORDS[0]}"
  case $answer in \\~/*) answer=$HOME/\${answer#\\~/} ;; esac
  [[ $answer != */* || ! -x $answer ]] || program=$answer
  __rosterctl_lines "$(command "$program" __complete "$ask" -- \${before[@]+"\${before[@]}"} 2>/dev/null </dev/null)"
  for line in \${lines[@]+"\${lines[@]}"}; do
    __rosterctl_add "\${line%%$'\\t'*}" "\${line#*$'\\t'}"
  done
}

__rosterctl_lines() { # text: its lines, taken as they are
  local IFS=$'\\n' globbing=1
  case $- in *f*) globbing= ;; esac
  set -f
  lines=($1)
  [[ -z $globbing ]] || set +f
}

# Readline completes paths better than a script; only where = does not part words we do it here.
__rosterctl_offer_paths() {
  local line
  if [[ -z $prefix || $tail != "$prefix"* ]]; then
    if [[ $slot == file ]]; then
      slot=readline
      compopt +o nospace 2>/dev/null
    else
      compopt -o dirnames +o default +o nospace 2>/dev/null && slot=readline
    fi
    return 0
  fi
  if [[ $slot == file ]]; then
    __rosterctl_lines "$(compgen -f -- "\${cur#"$prefix"}")"
  else
    __rosterctl_lines "$(compgen -d -- "\${cur#"$prefix"}")"
  fi
  for line in \${lines[@]+"\${lines[@]}"}; do
    [[ ! -d $line ]] || line=$line/
    __rosterctl_add "$line"
  done
}

# Hands over what was found, quoted for the shell; only what no cursor stands in gets its note.
__rosterctl_reply() {
  [[ $slot == readline ]] || compopt +o default 2>/dev/null
  local i word open= described= start
  case $head in *\\") open=\\" ;; *\\') open=\\' ;; esac
  [[ -z $open || -n $ends ]] || compopt +o nospace 2>/dev/null
  case \${COMP_TYPE-} in 9 | 33 | 63 | 64) ((\${#found[@]} < 2)) || described=1 ;; esac
  __rosterctl_unquote "$head"
  start=$answer
  for ((i = 0; i < \${#found[@]}; i++)); do
    word=$prefix\${found[i]}
    [[ $word == "$start"* ]] || continue
    __rosterctl_quote "\${word#"$start"}" || continue
    # Behind an open quote readline itself closes it and adds the space.
    word=$answer$ends
    [[ -n $open || -n $ends || $slot$answer == file*/ || $slot == directory ]] || word="$answer "
    [[ -z $described || -z \${notes[i]} ]] || word="$answer  (\${notes[i]})"
    COMPREPLY[\${#COMPREPLY[@]}]=$word
  done
}

# As it has to stand on the line, also behind a quote that is still open.
__rosterctl_quote() {
  answer=$1
  case $open in
    \\') __rosterctl_escape "$1" \\' "'\\\\'" ;;
    \\")
      [[ $1 != *'!'* ]] || return 1
      __rosterctl_escape "$1" '\\"$\`' \\\\
      ;;
    *) [[ $1 != *[!A-Za-z0-9_./:=@%+,-]* ]] || printf -v answer %q "$1" ;;
  esac
}

__rosterctl_escape() { # text, characters, what to put before each of them
  local rest=$1 letter
  answer=
  while [[ -n $rest ]]; do
    letter=\${rest:0:1}
    rest=\${rest:1}
    case $2 in *"$letter"*) letter=$3$letter ;; esac
    answer=$answer$letter
  done
}

complete -o default -o nospace -F _rosterctl rosterctl
`;
