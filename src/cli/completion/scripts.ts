/**
 * The completion scripts of the four shells. Each calls `rosterctl __complete WORDS…` with the words
 * up to the cursor and shows the answer. They contain no command or flag of the tool, so they do not
 * change when commands do.
 *
 * The first line of an answer is a directive (`:space`, `:nospace`, `:replace`, `:files` or `:folders`), a tab,
 * and the part of the last word that every candidate keeps. Each further line is a candidate: the
 * whole word, then optionally a tab and a description. bash passes its line in COMP_LINE, and gets
 * the format of `bashAnswer`.
 */

/** The shells that a TAB works in. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

const bashScript = `# Completion of rosterctl for bash 3.2 and later; needs no bash-completion package.
# Written by: rosterctl completion bash
_rosterctl() { # command, the text that readline replaces
  local IFS=$'\\n' program=\${COMP_WORDS[0]//[\\\\\\"\\']/} globbing=1 todo
  local -a lines
  case $program in \\~/*) program=$HOME/\${program#\\~/} ;; esac
  [[ $program == */* && -x $program ]] || program=rosterctl
  # Without set -f, a * in an answer would be replaced by file names.
  case $- in *f*) globbing= ;; esac
  set -f
  # Only what comes before the TAB. bash counts it in characters, before version 4.3 in bytes.
  lines=($(COMP_LINE=\${COMP_LINE:0:COMP_POINT} COMP_TYPE=\${COMP_TYPE-} COLUMNS=\${COLUMNS-} \\
    command "$program" __complete "\${2-}" 2>/dev/null </dev/null))
  [[ -z $globbing ]] || set +f
  todo=\${lines[0]-}
  unset 'lines[0]'
  COMPREPLY=(\${lines[@]+"\${lines[@]}"})
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
`;

const zshScript = `#compdef rosterctl
# Completion of rosterctl for zsh.
# Written by: rosterctl completion zsh
_rosterctl() {
  local program=rosterctl kept
  local -a lines ends
  [[ \${(Q)words[1]} != */* || ! -x \${~\${(Q)words[1]}} ]] || program=\${~\${(Q)words[1]}}
  lines=("\${(@f)$(command $program __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  # Show only the part of the word that changes.
  kept=\${lines[1]#*$'\\t'}
  [[ -n $kept ]] && compset -P "\${(b)kept}" && lines=("\${(@)lines#$kept}")
  case \${lines[1]%%$'\\t'*} in
    :files) _files && return ;;
    :folders) _files -/ && return ;;
    :nospace) ends=(-S '') ;;
    # Records found by their names: their ids do not begin as typed.
    :replace) ends=(-U -i "$IPREFIX"); ((\${#lines} < 3)) || compstate[insert]='' compstate[list]=list ;;
    :space) ;;
    *) return 1 ;;
  esac
  shift lines
  # _describe reads \`word:description\`, with backslashes before other colons.
  lines=("\${(@)lines//\\\\/\\\\\\\\}")
  lines=("\${(@)lines//:/\\\\:}")
  lines=("\${(@)lines/$'\\t'/:}")
  if [[ $PREFIX == -* ]]; then
    _describe -o -t options flag lines "\${ends[@]}"
  else
    _describe -t values value lines "\${ends[@]}"
  fi
}

# Called by the completion system as a file of its own, or sourced.
if [[ \${funcstack[1]-} == _rosterctl ]]; then
  _rosterctl "$@"
elif ((\${+functions[compdef]})); then
  compdef _rosterctl rosterctl
fi
`;

const fishScript = `# Completion of rosterctl for fish 3 and later.
# Written by: rosterctl completion fish
function __rosterctl_ask # sets what to offer; fails where fish completes a file by itself
    set -g __rosterctl_found
    set -l words (commandline -opc)
    # Without its quotes, of which one may be open.
    set -l current (commandline -ct | string replace -ar '["\\'\\\\\\\\]' '')
    set -l program rosterctl
    if string match -q '*/*' -- $words[1]; and test -x "$words[1]"
        set program $words[1]
    end
    set -e words[1]
    set -l lines (command $program __complete $words "$current" 2>/dev/null </dev/null)
    set -l first (string split -m 1 \\t -- "$lines[1]")
    set -e lines[1]
    switch "$first[1]"
        case ':files'
            return 1
        case ':folders'
            set -l path (string sub -s (math (string length -- "$first[2]") + 1) -- "$current")
            set __rosterctl_found $first[2](__fish_complete_directories $path '')
        case ':*'
            set __rosterctl_found $lines
    end
    return 0
end

complete -c rosterctl -e
complete -c rosterctl -n __rosterctl_ask -f -k -a '$__rosterctl_found'
`;

const powershellScript = `# Completion of rosterctl for PowerShell 5.1 and later.
# Written by: rosterctl completion powershell
Register-ArgumentCompleter -Native -CommandName rosterctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    Set-StrictMode -Off
    $exactly = [System.StringComparison]::Ordinal

    # The words before the one being typed, and that one.
    $typed = @()
    $cur = ''
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.StartOffset -ge $cursorPosition) { break }
        if ($element.Extent.EndOffset -ge $cursorPosition) {
            $cur = $element.Extent.Text.Substring(0, $cursorPosition - $element.Extent.StartOffset)
        }
        elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $typed += $element.Value
        }
        else {
            $typed += $element.Extent.Text
        }
    }
    $cur = $cur -replace '[''"\`]', ''
    # The end of that word, which is replaced.
    $tail = "$wordToComplete" -replace '[''"\`]', ''
    $head = ''
    if ($cur.EndsWith($tail, $exactly)) { $head = $cur.Substring(0, $cur.Length - $tail.Length) }

    $program = "$($commandAst.GetCommandName())"
    if ($program -notmatch '[\\\\/]') { $program = 'rosterctl' }
    # Before version 7.3 an empty word is lost on its way to a program.
    $empty = ''
    if ("$PSNativeCommandArgumentPassing" -in '', 'Legacy') { $empty = '""' }
    $words = @(@($typed) + $cur | ForEach-Object { if ($_ -eq '') { $empty } else { $_ } })
    $directive, $lines = @(& $program __complete @words 2>$null)
    # PowerShell completes paths by itself.
    if (-not ($directive -cmatch '^:(no|re)?(space|place)\\t(.*)$')) { return }
    $kept = $Matches[3]
    $replaces = $directive.StartsWith(':replace')

    foreach ($line in $lines) {
        $word, $about = "$line" -split "\`t", 2
        if (-not $replaces -and -not $word.StartsWith($cur, $exactly)) { continue }
        $text = $word.Substring([Math]::Min($head.Length, $word.Length))
        if ($text -cnotmatch '^[\\w./:=@%+,-]+$') {
            $text = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
        }
        $shown = $word.Substring($kept.Length)
        if (-not $about) { $about = $shown }
        [System.Management.Automation.CompletionResult]::new($text, $shown, 'ParameterValue', $about)
    }
}
`;

/** The script of each shell, and the file name that packagers expect. */
export const completionScripts = {
  bash: { fileName: 'rosterctl.bash', text: bashScript },
  zsh: { fileName: '_rosterctl', text: zshScript },
  fish: { fileName: 'rosterctl.fish', text: fishScript },
  powershell: { fileName: 'rosterctl.ps1', text: powershellScript },
} as const satisfies Record<Shell, object>;
