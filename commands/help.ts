import { type Command, defineCommand, type Entry } from '../src/cli/command.ts'
import { exitMeanings, exits, usage } from '../src/cli/exit.ts'
import { globalOptions } from '../src/cli/globals.ts'
import { membersOf } from '../src/cli/option-shape.ts'
import * as z from '../src/cli/params.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { helpOf } from '../src/cli/run/hint.ts'
import { HELP_COLUMNS_MAX } from '../src/cli/run/mount.ts'
import { keysOf } from '../src/core/record.ts'
import { bold, didYouMean, dim, fitted, kebab } from '../src/text/text.ts'

/** Version of the JSON that `help --json` and all commands print. Within a version, members are only added. */
const OUTPUT_VERSION = 1

export const command = defineCommand({
  name: 'help',
  heading: 'Other',
  summary: 'explain a command or a topic',
  description: `Topics: ${Object.keys(topics).join(', ')}. Without a topic it shows where to start.`,
  args: z.object({ words: z.list({ description: 'command or topic' }) }),
  options: z.object({ all: z.flag({ description: 'list every command with its options' }) }),
  ownText: true,
  examples: ['souk help services list', 'souk help exit-codes', 'souk help --all'],
  async run({ args, entries, system }) {
    const [topic] = args.words
    if (topic !== undefined) return { kind: 'topic' as const, topic, text: textOf(args.words.join(' '), entries) }
    const loaded = entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
    const known = await Promise.all(loaded.map(async (entry) => (await entry.load()).command))
    const { answerSchemas } = await import('../src/api/openapi/schemas.ts')
    const { answers, $defs } = answerSchemas([...new Set(known.flatMap((one) => one.prints ?? []))])
    const commands = known.map((one) => ({ ...described(one), output: answers[one.prints ?? ''] ?? {} }))
    const exit_codes = keysOf(exits).map((name) => ({ code: exits[name], name, meaning: exitMeanings[name] }))
    const global_options = globalOptions
      .filter((option) => !('hidden' in option))
      .map(({ flags, summary }) => ({ flags, summary }))
    return {
      kind: 'all' as const,
      version: system.version,
      output_version: OUTPUT_VERSION,
      commands,
      exit_codes,
      global_options,
      $defs,
    }
  },
  view(data, io) {
    if (data.kind === 'topic') return io.line(fitted(data.text, Math.min(io.width, HELP_COLUMNS_MAX)))
    for (const { name, summary, args, options } of data.commands) {
      const words = args.map((arg) => ` ${arg.required ? `<${arg.name}>` : `[${arg.name}]`}`).join('')
      io.line(fitted(`souk ${name}${words}   ${summary}`, io.width).replace(`souk ${name}`, bold(`souk ${name}`)))
      for (const { flags, summary: what } of options) io.line(dim(fitted(`    ${flags}   ${what}`, io.width)))
    }
  },
})

function described({ name, summary, aliases = [], args, options, examples }: Command) {
  return {
    name,
    summary,
    aliases,
    args: membersOf(args).map(([key, shape]) => ({
      name: kebab(key),
      required: shape.required,
      list: shape.list,
      summary: shape.summary,
    })),
    options: membersOf(options).map(([key, shape]) => ({
      flags: `${shape.short ? `-${shape.short}, ` : ''}--${kebab(key)}${shape.kind === 'flag' ? '' : ` <${shape.value}>`}`,
      summary: shape.summary,
      choices: shape.choices,
      /** null: none */
      default: defaultOf(shape),
    })),
    examples,
  }
}

function defaultOf({ fallback = null }: { readonly fallback: unknown }): unknown {
  return fallback
}

function textOf(name: string, entries: readonly Entry[]): string {
  const text = topics[name]
  if (text) return text
  const names = entries.filter(({ hidden }) => !hidden).flatMap((entry) => [entry.name, entry.name.split(' ')[0] ?? ''])
  const known = [...Object.keys(topics), ...names]
  throw usage(`There is no command or topic "${name}"${didYouMean(name, known)}.`, {
    facts: [`topics: ${Object.keys(topics).join(', ')}`],
    next: [...helpOf(name, entries), 'souk help'],
  })
}
