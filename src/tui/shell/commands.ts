import type { ScreenId } from '../../model/screen.ts'
import type { CommandLine } from './command-line.ts'
import type { DialogSpec } from './dialog.ts'
import { nameField, shellCommand, targetFacts } from './pause-dialog.ts'
import type { Host } from './screen.ts'

/** Commands that show what a screen shows: typed into the palette, they lead there. */
export const shownOn: Readonly<Partial<Record<ScreenId, readonly string[]>>> = {
  overview: ['status', 'attention'],
  services: ['services list', 'admin services list'],
  jobs: ['admin jobs list', 'jobs list'],
  threads: ['admin threads list', 'threads list'],
  crons: ['crons list'],
  endpoints: ['endpoints list'],
  money: ['admin payouts', 'admin holds', 'admin payees', 'money river', 'money audit'],
  compliance: ['admin verification list', 'admin sdn list'],
  logs: ['logs'],
  requests: ['requests list'],
  people: ['admin participants list', 'participants list'],
  clock: ['clock show'],
}

/** A command that takes the whole terminal, or never ends by itself. */
const ownTerminal = ['tui', 'tour', 'listen', 'provide', 'mcp serve', 'daemon serve', 'jobs watch']

export type Named = { readonly name: string; readonly summary: string; readonly rest: readonly string[] }

/** The command that a line names, and the words behind its name; undefined for none. */
export function commandIn({ commands }: Pick<CommandLine, 'commands'>, words: readonly string[]): Named | undefined {
  const line = words.join(' ')
  const fits = commands.filter(({ name }) => line === name || line.startsWith(`${name} `))
  const [longest] = fits.toSorted((a, b) => b.name.length - a.name.length)
  return longest && { ...longest, rest: words.slice(longest.name.split(' ').length) }
}

/** Why a line is none for the palette; undefined where it may run. */
export function whyNot({ name, rest }: Named): string | undefined {
  const isEndless = rest.some((word) => /^(--follow|--watch|-f|-w)(=|$)/.test(word))
  return ownTerminal.includes(name) || isEndless ? `souk ${name} needs a terminal of its own` : undefined
}

/** Any command of the command line, as a change: nothing is run that was not shown and answered with y. */
export function commandDialog(host: Host, line: CommandLine, { name, summary, rest }: Named): DialogSpec {
  const words = [...name.split(' '), ...rest, '--yes']
  return {
    title: 'RUN A COMMAND',
    facts: () => [...targetFacts(host), ['', ''], ['command', name], ['What it does', summary]],
    fields: nameField(host),
    verb: 'Run',
    command: () => shellCommand(host, words),
    send: async () => {
      const { option } = host.link.place
      const where = option === '' ? [] : option.split(' ')
      const confirmed = host.link.place.guarded ? ['--confirm', host.link.place.name] : []
      return line.run([...where, ...words, ...confirmed, '--no-input'])
    },
  }
}
