import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { getRemote, removeRemote } from '../../src/client/remotes.ts'
import { dropSecrets } from '../../src/client/secrets.ts'
import { changeSettings, readSettings } from '../../src/client/settings.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'remote remove',
  summary: 'remove a remote and its credentials',
  args: z.object({ name: z.string().meta({ description: 'remote name' }) }),
  examples: ['souk remote remove shop --yes', 'souk help remote remove'],
  async run({ args, globals, io, places }) {
    const remote = getRemote(places, args.name)
    wouldDo(globals, `forget ${remote.name} (${remote.url})`)
    await io.confirm(`Forget ${remote.name} (${remote.url}) and its admin credential?`)
    removeRemote(places, remote.name)
    dropSecrets(places, remote.name)
    if (readSettings(places).remote === remote.name) changeSettings(places, { remote: undefined })
    return { name: remote.name, url: remote.url }
  },
  view: ({ name }, io) => io.line(`${green('✓')} ${name} is forgotten`),
})
