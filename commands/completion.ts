import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { scripts, shells } from '../src/cli/run/shell-scripts.ts'
import { wouldDo } from '../src/cli/session.ts'
import { readText } from '../src/client/files.ts'
import type { Env } from '../src/client/paths.ts'
import { cyan, green } from '../src/text/text.ts'

type Shell = (typeof shells)[number]

/** What a start-up file says, and where it lies below the home folder. */
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
    install: z
      .boolean()
      .default(false)
      .meta({ description: 'add the line to the startup file of the shell, after confirmation' }),
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
    if ('script' in data) {
      io.line(data.script.trimEnd())
      return
    }
    io.line(`${green('✓')} ${data.added ? 'added to' : 'is in'} ${io.path(data.file)}   ${cyan(data.line)}`)
  },
})

function startUpFile(shell: Shell, env: Env): string {
  const { file, line } = startUp[shell]
  if (file !== undefined && env.HOME) return join(env.HOME, ...file)
  throw new CliError('usage', `Where ${shell} keeps its start-up file is not known here.`, {
    facts: [`the line to add is: ${line}`],
    next: [`souk completion ${shell}`],
  })
}
