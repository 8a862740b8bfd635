import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { hasStore, requireStopped, restoreFrom } from '../../src/lifecycle/restore.ts'
import { findSnapshot } from '../../src/lifecycle/snapshots.ts'
import { showRestored } from '../restore.ts'

export const command = defineCommand({
  name: 'snapshots restore',
  summary: 'restore the local data from a saved copy',
  description: 'Stop the daemon first. Changes made after the copy was saved are lost.',
  args: z.object({ name: z.string().meta({ description: 'name, from `souk snapshots list`' }) }),
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
