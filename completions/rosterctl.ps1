# Completion of rosterctl for PowerShell 5.1 and later.
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
    $cur = $cur -replace '[''"`]', ''
    # The end of that word, which is replaced.
    $tail = "$wordToComplete" -replace '[''"`]', ''
    $head = ''
    if ($cur.EndsWith($tail, $exactly)) { $head = $cur.Substring(0, $cur.Length - $tail.Length) }

    $program = "$($commandAst.GetCommandName())"
    if ($program -notmatch '[\\/]') { $program = 'rosterctl' }
    # Before version 7.3 an empty word is lost on its way to a program.
    $empty = ''
    if ("$PSNativeCommandArgumentPassing" -in '', 'Legacy') { $empty = '""' }
    $words = @(@($typed) + $cur | ForEach-Object { if ($_ -eq '') { $empty } else { $_ } })
    $directive, $lines = @(& $program __complete @words 2>$null)
    # PowerShell completes paths by itself.
    if (-not ($directive -cmatch '^:(no|re)?(space|place)\t(.*)$')) { return }
    $kept = $Matches[3]
    $replaces = $directive.StartsWith(':replace')

    foreach ($line in $lines) {
        $word, $about = "$line" -split "`t", 2
        if (-not $replaces -and -not $word.StartsWith($cur, $exactly)) { continue }
        $text = $word.Substring([Math]::Min($head.Length, $word.Length))
        if ($text -cnotmatch '^[\w./:=@%+,-]+$') {
            $text = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
        }
        $shown = $word.Substring($kept.Length)
        if (-not $about) { $about = $shown }
        [System.Management.Automation.CompletionResult]::new($text, $shown, 'ParameterValue', $about)
    }
}
