import { entries } from '../commands/index.ts'
import { exitMeanings, exits } from '../src/cli/exit.ts'
import { type ExampleName, fieldsOf } from '../src/cli/files/examples.ts'
import { keptOptions } from '../src/cli/globals.ts'
import { daemonSettings } from '../src/cli/public.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { keysOf } from '../src/core/record.ts'
import { kebab } from '../src/text/text.ts'

const escaped = (text: string) => text.replaceAll('|', '\\|')
const row = (...cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`
const table = (...head: readonly string[]) => [row(...head), row(...head.map(() => '---'))]

/** Every command with its summary; `souk help COMMAND` has the options. */
export function commandsPage(): string {
  const groups = new Map<string, string[]>()
  for (const { name, summary, heading, hidden } of entries) {
    if (hidden) continue
    groups.set(heading, [...(groups.get(heading) ?? []), row(`\`souk ${name}\``, summary)])
  }
  const parts = [...groups].flatMap(([group, rows]) => ['', `## ${group}`, '', ...table('Command', 'Summary'), ...rows])
  return ['# Commands', '', '`souk help COMMAND` shows the options and examples of a command.', ...parts, ''].join('\n')
}

/** The exit codes of every command. */
export function exitCodesPage(): string {
  const rows = keysOf(exits).map((name) => row(String(exits[name]), `\`${name}\``, exitMeanings[name]))
  return ['# Exit codes', '', ...table('Code', 'Name', 'Meaning'), ...rows, ''].join('\n')
}

/** Saved settings and environment variables. */
export function settingsPage(): string {
  const saved = [...keptOptions, ...daemonSettings].map(({ key, summary }) => row(`\`${kebab(key)}\``, summary))
  const variables = (topics.environment ?? '').split('\n').flatMap((line) => {
    const [, name = '', meaning = ''] = /^(\w+) {2,}(.+)$/.exec(line) ?? []
    return name === '' ? [] : [row(`\`${name}\``, meaning.replace(/^like (.+)$/, 'same as `$1`'))]
  })
  const order = (topics.environment ?? '').split('\n')[0] ?? ''
  return [
    ...['# Settings', '', order, '', '## Saved by `souk config set`', '', ...table('Setting', 'Meaning'), ...saved],
    ...['', '## Environment variables', '', ...table('Variable', 'Meaning'), ...variables, ''],
  ].join('\n')
}

const DOCUMENTS: Readonly<Record<ExampleName, string>> = {
  listing: 'services create',
  plan: 'plans create',
  product: 'products create',
  request: 'requests create',
}

/** The fields of every document that `create` takes. */
export function listingFieldsPage(): string {
  const parts = keysOf(DOCUMENTS).flatMap((name) => [
    ...['', `## \`souk ${DOCUMENTS[name]} --example\``, '', ...table('Field', 'Type and bounds', 'Example')],
    ...fieldsOf[name].map(({ name: field, says, value }) => row(`\`${field}\``, says, `\`${value}\``)),
  ])
  return ['# Fields of listings, plans, products and requests', ...parts, ''].join('\n')
}
