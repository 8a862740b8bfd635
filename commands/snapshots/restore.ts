import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { hasStore, requireStopped, restoreFrom } from '../../src/lifecycle/restore.ts'
import { findSnapshot } from '../../src/lifecycle/snapshots.ts'
import { showRestored } from '../restore.ts'

export const command = defineCommand({
  name: 'snapshots restore',
  summary: 'go back to a copy of the local store',
  description: 'The daemon has to be down. What happened since the copy was saved is gone.',
  args: z.object({ name: z.string().meta({ description: 'see souk snapshots list' }) }),
  options: z.object({}),
  examples: ['souk snapshots restore before --yes', 'souk snapshots restore before --yes --json'],
  async run(context) {
    const { name } = context.args
    const file = findSnapshot(context, name)
    await requireStopped(context, `souk snapshots restore ${name}`)
    wouldDo(context.globals, `restore snapshot ${name} to ${context.places.data}`)
    if (hasStore(context)) await context.io.confirm(`Replace the store by "${name}"? What happened since then is gone.`)
    return { name, ...(await restoreFrom(context, file)) }
  },
  view: showRestored,
})
