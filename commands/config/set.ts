import { defineCommand } from '../../src/cli/command.ts'
import { keep, oneKept, settable, typedAs } from '../../src/cli/nouns/config.ts'
import * as z from '../../src/cli/params.ts'
import { readGlobals } from '../../src/cli/run/values.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
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
    wouldDo(context.globals, `keep ${key} as ${value}`)
    keep(context, option, value)
    return oneKept(context, key)
  },
  view({ key, value, origin }, io) {
    io.line(
      `${green('✓')} ${key} is ${bold(value ?? '')}${origin === 'environment' ? '   (the environment says so)' : ''}`,
    )
  },
})
