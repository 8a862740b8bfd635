import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { confirmName, openSession, wouldDo } from '../../src/cli/session.ts'
import { getRemote, protectRemote } from '../../src/client/remotes.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'remote protect',
  summary: 'require typing the name of a remote before changes',
  args: z.object({ name: z.string().meta({ description: 'remote name' }) }),
  options: z.object({
    off: z.boolean().default(false).meta({ description: 'remove the protection; asks for the name' }),
  }),
  examples: ['souk remote protect shop', 'souk remote protect shop --off --confirm shop --json'],
  async run(context) {
    const { args, options, globals, places } = context
    const before = getRemote(places, args.name).protected === true
    wouldDo(globals, `${options.off ? 'lift the protection of' : 'protect'} ${args.name}`)
    if (before && options.off) {
      const { target } = await openSession({ ...context, globals: { ...globals, remote: args.name } })
      await confirmName(context, target, 'lifts the protection of')
    }
    const remote = protectRemote(places, args.name, !options.off)
    return { name: remote.name, protected: remote.protected === true, changed: before === options.off }
  },
  view: ({ name, protected: is, changed }, io) =>
    io.line(`${green('✓')} ${bold(name)} is ${is ? '' : 'not '}protected${changed ? '' : '   (it was so before)'}`),
})
