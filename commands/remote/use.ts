import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { getRemote } from '../../src/client/remotes.ts'
import { changeSettings, LOCAL } from '../../src/client/settings.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'remote use',
  summary: 'set the default remote',
  args: z.object({ name: z.string().meta({ description: 'remote name or local' }) }),
  examples: ['souk remote use local', 'souk remote use local --json'],
  async run({ args, globals, places }) {
    wouldDo(globals, `talk to ${args.name} from now on`)
    const url = args.name === LOCAL ? null : getRemote(places, args.name).url
    changeSettings(places, { remote: args.name === LOCAL ? undefined : args.name })
    return { name: args.name, url }
  },
  view: ({ name, url }, io) => io.line(`${green('✓')} talking to ${bold(name)}${url === null ? '' : `   ${url}`}`),
})
