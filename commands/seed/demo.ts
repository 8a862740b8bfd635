import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { findDaemon } from '../../src/client/discover.ts'
import { lastLaunchOf } from '../../src/lifecycle/launch.ts'
import { demoRefused, localOnly, requireStopped } from '../../src/lifecycle/restore.ts'
import { startDaemon } from '../../src/lifecycle/start.ts'
import { GRACE_MS, stopDaemon } from '../../src/lifecycle/stop.ts'
import { demoPeople, seedDemo } from '../../src/market/seed.ts'
import { bold, cyan, dim, green } from '../../src/text/text.ts'

type Context = CommandContext<unknown, unknown>
/** More than so many people at a marketplace are not looked through: it is in use. */
const PEOPLE_LIMIT = '100'

export const command = defineCommand({
  name: 'seed demo',
  summary: 'fill an untouched local marketplace with sellers, buyers and months of trade',
  description:
    'Creates real sandbox purchases over the past months: jobs, conversations, subscriptions, requests and disputes in every state. Restarts a running daemon. Running it again changes nothing.',
  examples: ['souk seed demo --instance demo', 'souk seed demo --instance demo --json'],
  async run(context) {
    localOnly(context)
    const began = context.io.now()
    const { places } = context
    const found = await findDaemon(places)
    if (found.state === 'starting') await requireStopped(context, 'souk seed demo')
    const isRunning = found.state === 'running'
    if (isRunning && (await isThere(context))) return told('there', 0)
    wouldDo(context.globals, `fill ${places.data} with the demo`)
    const progress = context.io.progress('seeding the demo')
    if (isRunning) await stopDaemon(context, { graceMs: GRACE_MS, force: false })
    try {
      const onDay = (day: number, of: number) => progress.update(`seeding the demo: day ${day} of ${of}`)
      const outcome = await seedDemo({ ...context, onDay }, places.data)
      if (outcome === 'in_use') throw demoRefused(context)
      return told(outcome, context.io.now() - began)
    } finally {
      progress.stop()
      if (isRunning) await startDaemon(context, lastLaunchOf(places))
    }
  },
  view({ changed, people, took_ms: ms }, io) {
    if (changed) io.line(`${green('✓')} the demo is there   ${(ms / 1_000).toFixed(1)} s`)
    else io.line(`${green('✓')} the demo is there already; nothing was changed`)
    for (const { wallet, name, type } of people) io.line(`  ${wallet.padEnd(12)}${bold(name)}   ${dim(type)}`)
    io.note(
      `  next      ${['souk jobs list --as acme', 'souk attention', 'souk tui'].map((line) => cyan(io.hint(line))).join('    ')}`,
    )
  },
})

function told(outcome: 'written' | 'there', tookMs: number) {
  return { seed: 'demo' as const, changed: outcome === 'written', people: demoPeople, took_ms: tookMs }
}

/** Asked of a daemon that runs, so that it goes on where nothing will change. @throws CliError conflict */
async function isThere(context: Context): Promise<boolean> {
  const session = await context.session()
  const { participants } = await session.call('listParticipants', { query: { limit: PEOPLE_LIMIT } })
  const { personAt } = await import('../../src/market/hand.ts')
  const { url, fingerprint, inTheClear } = session.target
  const stage = { url, fingerprint, inTheClear, adminKey: '', wall: context.io.now }
  const [first] = demoPeople
  const { address } = await personAt(stage, first?.wallet ?? '')
  if (participants.some(({ wallet }) => wallet === address)) return true
  if (participants.some((one) => !one.first_party)) throw demoRefused(context)
  return false
}
