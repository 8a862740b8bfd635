import { defineCommand } from '../../src/cli/command.ts'
import { keep, oneKept, settable } from '../../src/cli/nouns/config.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
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
  view: ({ key }, io) => io.line(`${green('✓')} ${key} is as it is by default`),
})
