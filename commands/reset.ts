import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { dropInstance } from '../src/client/secrets.ts'
import { requireStopped } from '../src/lifecycle/restore.ts'
import { namesIn } from '../src/lifecycle/stop.ts'
import { cyan, green } from '../src/text/text.ts'

const keepable = ['wallets', 'config'] as const
type Kept = (typeof keepable)[number]
const NOTHING = 'none'
const WALLETS = 'wallets'

export const command = defineCommand({
  name: 'reset',
  heading: 'Daemon',
  summary: 'delete all data of the local daemon; keeps wallets and settings (see --keep)',
  description:
    'Stop the daemon first. Snapshots and logs stay. Deleted wallet keys cannot be recovered, nor can their money.',
  options: z.object({
    keep: z.string().default(keepable.join(',')).meta({
      description: 'what to keep: wallets, config (settings, remotes, keys), none',
      value: 'what',
    }),
  }),
  examples: ['souk reset --yes', 'souk reset --keep wallets --yes --json'],
  async run(context) {
    const { options, globals, io, places } = context
    const kept = keptFrom(options.keep)
    const going = keepable.filter((one) => !kept.includes(one))
    await requireStopped(context, 'souk reset')
    const act = ['all data of the local daemon', ...going.map((one) => `the ${one} of this machine`)].join(' and ')
    wouldDo(globals, `remove ${act}`)
    await io.confirm(`Remove ${act}? (${io.path(places.data)})`)
    await (await context.system.daemon()).clearData(places.data)
    dropInstance(places, places.data)
    for (const path of going.flatMap((one) => pathsOf(places.config, one))) await rm(path, { recursive: true })
    return { data_dir: places.data, removed: ['data', ...going], kept }
  },
  view({ removed, kept, data_dir: dir }, io) {
    io.line(`${green('✓')} removed ${removed.join(', ')}   ${io.path(dir)}`)
    if (kept.length > 0) io.line(`  kept      ${kept.join(', ')}`)
    io.note(`  next      ${cyan(io.hint('souk up'))}`)
  },
})

function keptFrom(text: string): readonly Kept[] {
  const words = text.split(',').map((word) => word.trim())
  if (text === NOTHING) return []
  const unknown = words.find((word) => !keepable.some((one) => one === word))
  if (unknown === undefined) return keepable.filter((one) => words.includes(one))
  throw usage(`--keep takes ${keepable.join(', ')} or ${NOTHING}; you gave "${unknown}".`)
}

function pathsOf(config: string, what: Kept): string[] {
  const names = namesIn(config).filter((name) => (name === WALLETS) === (what === 'wallets'))
  return names.map((name) => join(config, name))
}
