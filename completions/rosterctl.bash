# Completion of rosterctl for bash 3.2 and later; needs no bash-completion package.
# Written by: rosterctl completion bash
_rosterctl() { # command, the text that readline replaces
  local IFS=$'\n' program=${COMP_WORDS[0]//[\\\"\']/} globbing=1 todo
  local -a lines
  case $program in \~/*) program=$HOME/${program#\~/} ;; esac
  [[ $program == */* && -x $program ]] || program=rosterctl
  # Without set -f, a * in an answer would be replaced by file names.
  case $- in *f*) globbing= ;; esac
  set -f
  # Only what comes before the TAB. bash counts it in characters, before version 4.3 in bytes.
  lines=($(COMP_LINE=${COMP_LINE:0:COMP_POINT} COMP_TYPE=${COMP_TYPE-} COLUMNS=${COLUMNS-} \
    command "$program" __complete "${2-}" 2>/dev/null </dev/null))
  [[ -z $globbing ]] || set +f
  todo=${lines[0]-}
  unset 'lines[0]'
  COMPREPLY=(${lines[@]+"${lines[@]}"})
  # bash before version 4 has no compopt: it also offers paths, and adds no space behind them.
  case $todo in
    :files) compopt +o nospace 2>/dev/null ;;
    :folders) compopt -o dirnames +o default +o nospace 2>/dev/null ;;
    :closes) compopt +o default +o nospace 2>/dev/null ;;
    *) compopt +o default 2>/dev/null ;;
  esac
  return 0
}

complete -o default -o nospace -F _rosterctl rosterctl
