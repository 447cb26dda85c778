/** What reads the line and offers words: the same for every table. */
export const powershellEngine = `Register-ArgumentCompleter -Native -CommandName rosterctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    Set-StrictMode -Off
    $exactly = [System.StringComparison]::Ordinal

    if ($null -eq $global:RosterctlTable) {
        $global:RosterctlTable = $global:RosterctlJson | ConvertFrom-Json
    }
    $table = $global:RosterctlTable

    # The words before the cursor, and the one it stands in.
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
    $tail = "$wordToComplete" -replace '[''"\`]', ''
    $head = ''
    if ($cur.EndsWith($tail, $exactly)) { $head = $cur.Substring(0, $cur.Length - $tail.Length) }

    function Find-Word($words, $word) {
        foreach ($one in @($words)) {
            if ($one.w -ceq $word -or @($one.a) -ccontains $word) { return $one }
        }
    }
    function Find-Flag($command, $word) {
        foreach ($flag in @($command.flags) + @($table.globals)) {
            if ($null -ne $flag -and @($flag.w) -ccontains $word) { return $flag }
        }
    }

    # Noun, command, flags given, a flag that waits for its value.
    $noun = $null; $command = $null; $wanted = $null
    $ended = $false; $given = @(); $rest = @()
    foreach ($word in $typed) {
        if ($null -ne $wanted) { $wanted = $null }
        elseif ($ended -or $word -cnotmatch '^-.') {
            if ($null -eq $noun) {
                $found = Find-Word $table.first $word
                if ($null -eq $found) { return }
                $noun = $found.w
                $command = $table.commands.$noun
            }
            elseif ($null -eq $command) {
                $found = Find-Word $table.verbs.$noun $word
                if ($null -eq $found) { return }
                $command = $table.commands.("$noun " + $found.w)
            }
            else { $rest += $word }
        }
        elseif ($word -ceq '--') { $ended = $true }
        elseif ($word.StartsWith('--', $exactly)) {
            $flag = Find-Flag $command ($word -replace '=.*$', '')
            if ($null -ne $flag) {
                $given += @($flag.w)[0]
                if ($null -ne $flag.s -and -not $word.Contains('=')) { $wanted = $flag }
            }
        }
        else {
            # -qy are two switches, -pNAME is one flag with its value.
            for ($i = 1; $i -lt $word.Length; $i++) {
                $flag = Find-Flag $command ('-' + $word[$i])
                if ($null -eq $flag) { continue }
                $given += @($flag.w)[0]
                if ($null -eq $flag.s) { continue }
                if ($i -eq $word.Length - 1) { $wanted = $flag }
                break
            }
        }
    }

    # What may stand here.
    $prefix = ''; $slot = $null; $choices = @()
    if ($null -ne $wanted) { $slot = $wanted.s }
    elseif (-not $ended -and $cur -cmatch '^(--[^=]*)=') {
        $prefix = $Matches[0]
        $flag = Find-Flag $command $Matches[1]
        if ($null -ne $flag) { $slot = $flag.s }
        if ($Matches[1] -ceq '--json') { $slot = (Find-Flag $null '--fields').s }
        if ($null -eq $slot) { return }
    }
    elseif (-not $ended -and $cur.StartsWith('-', $exactly)) {
        $seen = @()
        foreach ($flag in @($command.flags) + @($table.globals)) {
            if ($null -eq $flag) { continue }
            $long = @($flag.w)[0]
            if ($seen -ccontains $long -or ($given -ccontains $long -and -not $flag.again)) { continue }
            $seen += $long
            $choices += [pscustomobject]@{ w = $long; t = $flag.t }
        }
    }
    elseif ($null -eq $noun -or $null -eq $command) {
        $names = if ($null -eq $noun) { $table.first } else { $table.verbs.$noun }
        $choices = @($names | Where-Object { $_.w.StartsWith($cur, $exactly) })
        if ($choices.Count -eq 0) {
            foreach ($one in $names) {
                foreach ($alias in @($one.a)) { $choices += [pscustomobject]@{ w = $alias; t = $one.t } }
            }
        }
    }
    else {
        $slots = @($command.args)
        if ($rest.Count -lt $slots.Count) { $slot = $slots[$rest.Count] }
        elseif ($command.variadic -and $slots.Count -gt 0) { $slot = $slots[-1] }
        else { return }
    }

    $ask = $null; $ends = ''; $chosen = @()
    if ($null -ne $slot) {
        $ask = $slot.ask
        $ends = "$($slot.ends)"
        if ($slot.kind -ceq 'words') { $choices = @($slot.words) }
        elseif ($slot.kind -ceq 'fields') {
            $choices = @($command.fields | ForEach-Object { [pscustomobject]@{ w = $_; t = '' } })
            $ask = $command.ask
        }
        elseif ($slot.kind -ceq 'topic' -and $rest.Count -eq 0) { $choices = @($table.topics) + @($table.first) }
        elseif ($slot.kind -ceq 'topic' -and $rest.Count -eq 1) {
            $found = Find-Word $table.first $rest[0]
            if ($null -ne $found) { $choices = @($table.verbs.($found.w)) }
        }
        else { return } # PowerShell offers paths by itself
        $value = $cur.Substring($prefix.Length)
        if ($slot.list -and $value.Contains(',')) {
            $before = $value.Substring(0, $value.LastIndexOf(',') + 1)
            $prefix += $before
            $chosen = $before.Split(',')
        }
    }
    # Ids, profiles and field names, from what this machine remembers.
    if ($ask) {
        $program = "$($commandAst.GetCommandName())"
        if ($program -notmatch '[\\\\/]') { $program = 'rosterctl' }
        foreach ($line in @(& $program __complete $ask -- @typed 2>$null)) {
            $word, $text = "$line" -split "\`t", 2
            $choices += [pscustomobject]@{ w = $word; t = $text }
        }
    }

    $offered = @()
    foreach ($choice in $choices) {
        if ($null -eq $choice -or -not $choice.w) { continue }
        $whole = $prefix + $choice.w
        if (-not $whole.StartsWith($cur, $exactly) -or $offered -ccontains $whole -or $chosen -ccontains $choice.w) { continue }
        $offered += $whole
        $text = $whole.Substring([Math]::Min($head.Length, $whole.Length)) + $ends
        if ($text -cnotmatch '^[\\w./:=@%+,-]+$') {
            $text = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
        }
        $about = if ($choice.t) { $choice.t } else { $choice.w }
        [System.Management.Automation.CompletionResult]::new($text, $choice.w, 'ParameterValue', $about)
    }
}
`;
