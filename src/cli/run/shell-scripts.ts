export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

const bash = `
_souk() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(souk __complete --tsv -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _souk souk
`

const zsh = `
_souk() {
  local line
  local -a lines described
  lines=("\${(@f)$(souk __complete --tsv -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#described )); then _describe souk described; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
compdef _souk souk
`

const fish = `
function __souk_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  souk __complete --tsv -- $words[2..-1] "$current" 2>/dev/null
end
complete -c souk -f -a '(__souk_complete)'
complete -c souk -n 'not count (__souk_complete) >/dev/null' -F
`

const powershell = `
Register-ArgumentCompleter -Native -CommandName souk -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  $next = if ($wordToComplete -eq '') { @('--next') } else { @() }
  souk __complete --tsv @next -- @words 2>$null | ForEach-Object {
    $value, $summary = $_ -split "\`t", 2
    $shown = if ($summary) { $summary } else { $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $shown)
  }
}
`

/** What each shell reads; the words themselves come from souk when they are asked for. */
export const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: bash.trimStart(),
  zsh: zsh.trimStart(),
  fish: fish.trimStart(),
  powershell: powershell.trimStart(),
}
