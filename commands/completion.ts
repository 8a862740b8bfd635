import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { readText } from '../src/client/files.ts'
import type { Env } from '../src/client/settings.ts'
import { cyan, green } from '../src/text/text.ts'

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

// bash splits words at = and : and replaces only the part after the last = or :. The script joins the words again, and
// returns only that part, with special characters quoted.
const bash = `
_souk_words() {
  local at word rest=\${COMP_LINE:0:COMP_POINT}
  words=()
  for (( at = 0; at <= COMP_CWORD; at++ )); do
    word=\${COMP_WORDS[at]}
    if (( at > 0 )) && [[ $rest != [[:space:]]* ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    rest=\${rest#"$word"}
  done
}
_souk() {
  local line value current lead words
  _souk_words
  current=\${words[\${#words[@]}-1]}
  lead=\${current%"\${current##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    value=\${value#"$lead"}
    [[ $value == *= ]] && type compopt >/dev/null 2>&1 && compopt -o nospace
    [[ $value == *[^[:alnum:]_./:@%+,=-]* ]] && printf -v value '%q' "$value"
    COMPREPLY+=("$value")
  done < <(souk __complete --tsv -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _souk souk
`

const zsh = `
_souk() {
  local line value
  local -a lines open whole
  lines=("\${(@f)$(souk __complete --tsv -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    value=\${line%%$'\\t'*}
    if [[ $value == *= ]]; then
      open+=("\${value//:/\\:}:\${line#*$'\\t'}")
    else
      whole+=("\${value//:/\\:}:\${line#*$'\\t'}")
    fi
  done
  if (( $#open + $#whole == 0 )); then _files; return; fi
  (( $#open )) && _describe souk open -S ''
  (( $#whole )) && _describe souk whole
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
compdef _souk souk
`

const fish = `
function __souk_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (souk __complete --tsv -- $words[2..-1] "$current" 2>/dev/null)
  if count $found >/dev/null
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c souk -f -a '(__souk_complete)'
`

// PowerShell also accepts curly quotes as quotes. Its own function, used here, escapes every kind of quote.
const powershell = `
Register-ArgumentCompleter -Native -CommandName souk -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  $next = if ($wordToComplete -eq '') { @('--next') } else { @() }
  souk __complete --tsv @next -- @words 2>$null | ForEach-Object {
    $value, $summary = $_ -split "\`t", 2
    $shown = if ($summary) { $summary } else { $value }
    $quoted = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($value) + "'"
    $typed = if ($value -match '[^\\w./:+=-]') { $quoted } else { $value }
    [System.Management.Automation.CompletionResult]::new($typed, $value, 'ParameterValue', $shown)
  }
}
`

/** Completion scripts by shell; each one calls souk for candidates. */
export const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: bash.trimStart(),
  zsh: zsh.trimStart(),
  fish: fish.trimStart(),
  powershell: powershell.trimStart(),
}

type Shell = (typeof shells)[number]

/** The line that loads completion, and the path of the shell's start-up file below the home folder, if known. */
const startUp: Readonly<Record<Shell, { readonly file: readonly string[] | undefined; readonly line: string }>> = {
  bash: { file: ['.bashrc'], line: 'source <(souk completion bash)' },
  zsh: { file: ['.zshrc'], line: 'source <(souk completion zsh)' },
  fish: { file: ['.config', 'fish', 'config.fish'], line: 'souk completion fish | source' },
  powershell: { file: undefined, line: 'souk completion powershell | Out-String | Invoke-Expression' },
}

export const command = defineCommand({
  name: 'completion',
  heading: 'Other',
  summary: 'print the shell completion script',
  description:
    'The script asks souk for completions, so it stays current. --install adds one line to the startup file. The PowerShell script is tested only where PowerShell is installed.',
  args: z.object({ shell: z.enum(shells).meta({ description: shells.join(', ') }) }),
  options: z.object({
    install: z.flag({ description: 'add the line to the startup file of the shell, after confirmation' }),
  }),
  ownText: true,
  ownForm: true,
  examples: ['souk completion bash', 'souk completion zsh --install --yes'],
  async run({ args: { shell }, options, globals, io, system }) {
    const { line } = startUp[shell]
    if (!options.install) return { shell, line, script: scripts[shell] }
    const file = startUpFile(shell, system.env)
    const text = readText(file) ?? ''
    if (text.split('\n').includes(line)) return { shell, line, file, added: false }
    wouldDo(globals, `add to ${file}: ${line}`)
    await io.confirm(`Add to ${io.path(file)}: ${line}`)
    appendFileSync(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`)
    return { shell, line, file, added: true }
  },
  view(data, io) {
    if ('script' in data) return io.line(data.script.trimEnd())
    io.line(`${green('✓')} ${data.added ? 'added to' : 'is in'} ${io.path(data.file)}   ${cyan(data.line)}`)
  },
})

function startUpFile(shell: Shell, env: Env): string {
  const { file, line } = startUp[shell]
  if (file !== undefined && env.HOME) return join(env.HOME, ...file)
  throw new CliError('usage', `The startup file of ${shell} is unknown.`, {
    facts: [`add this line yourself: ${line}`],
    next: [`souk completion ${shell}`],
  })
}
