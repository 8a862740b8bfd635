import { defineCommand } from '../src/cli/command.ts'
import { inEditor } from '../src/cli/files/editor.ts'
import { allKept, changeKept, columns, draftOf, keep, oneKept, settable, typedAs } from '../src/cli/nouns/config.ts'
import { printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { readGlobals } from '../src/cli/run/values.ts'
import { wouldDo } from '../src/cli/session.ts'
import { bold, green } from '../src/text/text.ts'

export const configEdit = defineCommand({
  name: 'config edit',
  summary: 'edit the settings in your editor',
  description:
    'Opens the settings as YAML in $VISUAL or $EDITOR. Invalid input is reported and opened again; nothing is saved until all of it is valid.',
  examples: ['souk config edit --dry-run', 'souk config edit --dry-run --json'],
  async run(context) {
    wouldDo(context.globals, 'open the settings in your editor')
    return inEditor(context, {
      name: 'settings',
      text: draftOf(context),
      take: async (document) => {
        const changed = await changeKept(context, document, readGlobals)
        return { changed }
      },
    })
  },
  view({ changed }, io) {
    if (changed.length === 0) io.line('no changes')
    for (const { key, value } of changed)
      io.line(`${green('✓')} ${key} ${value === null ? 'is back to its default' : `is ${value}`}`)
  },
})

export const configGet = defineCommand({
  name: 'config get',
  summary: 'show one setting',
  args: z.object({ key: z.string().meta({ description: 'name of the setting, from `souk config list`' }) }),
  examples: ['souk config get max-price', 'souk config get pay --json'],
  run: async (context) => oneKept(context, context.args.key),
  view: ({ value }, io) => io.line(value ?? ''),
})

export const configList = defineCommand({
  name: 'config list',
  summary: 'list default settings and where each comes from',
  description: 'Order of precedence: flag, environment variable, saved setting.',
  examples: ['souk config list', "souk config list -q '.settings | map(.key)'"],
  async run(context) {
    const settings = allKept(context)
    return { total: settings.length, settings }
  },
  rows: ({ settings }) => settings,
  columns,
  view: ({ settings }, io) => printRows(io, columns, settings),
})

export const configPath = defineCommand({
  name: 'config path',
  summary: 'print the paths of config, data and logs',
  examples: ['souk config path', 'souk config path --json --fields config'],
  run: async ({ places: { config, data, state, runtime, cache } }) => ({ config, data, state, runtime, cache }),
  view(folders, io) {
    for (const [name, folder] of Object.entries(folders)) io.line(`${name.padEnd(7)}  ${folder}`)
  },
})

export const configSet = defineCommand({
  name: 'config set',
  summary: 'save a default setting',
  args: z.object({
    key: z.string().meta({ description: 'name of the setting, from `souk config list`' }),
    value: z.string().meta({ description: 'value, as for the flag; true or false for a switch' }),
  }),
  examples: ['souk config set max-price 5.00', 'souk config set pay x402 --json'],
  async run(context) {
    const { key, value } = context.args
    const option = settable(key)
    await readGlobals(typedAs(option, value))
    wouldDo(context.globals, `save ${key} as ${value}`)
    keep(context, option, value)
    return oneKept(context, key)
  },
  view({ key, value, origin }, io) {
    io.line(
      `${green('✓')} ${key} is ${bold(value ?? '')}${origin === 'environment' ? '   (overridden by the environment)' : ''}`,
    )
  },
})

export const configUnset = defineCommand({
  name: 'config unset',
  summary: 'reset a setting to its default',
  args: z.object({ key: z.string().meta({ description: 'name of the setting, from `souk config list`' }) }),
  examples: ['souk config unset max-price', 'souk config unset pay --json'],
  async run(context) {
    const { key } = context.args
    const option = settable(key)
    wouldDo(context.globals, `forget ${key}`)
    keep(context, option, undefined)
    return oneKept(context, key)
  },
  view: ({ key }, io) => io.line(`${green('✓')} ${key} is back to its default`),
})
