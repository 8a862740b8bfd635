import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { findDaemon } from '../src/client/discover.ts'
import { lastLaunchOf } from '../src/lifecycle/launch.ts'
import { demoRefused, localOnly, requireStopped } from '../src/lifecycle/restore.ts'
import { startDaemon } from '../src/lifecycle/start.ts'
import { GRACE_MS, stopDaemon } from '../src/lifecycle/stop.ts'
import { demoPeople, seedDemo } from '../src/market/seed.ts'
import { Rate, showTraffic } from '../src/market/traffic.ts'
import { bold, cyan, dim, green } from '../src/text/text.ts'

/** Number of participants read to find out whether the marketplace is in use. */
const PEOPLE_LIMIT = '100'

export const seedDemoCommand = defineCommand({
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
    wouldDo(context.globals, `fill ${places.data} with the demo data`)
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
    if (changed) io.line(`${green('✓')} demo data created   ${(ms / 1_000).toFixed(1)} s`)
    else io.line(`${green('✓')} the demo data already exists; nothing was changed`)
    for (const { wallet, name, type } of people) io.line(`  ${wallet.padEnd(12)}${bold(name)}   ${dim(type)}`)
    io.note(
      `  next      ${['souk jobs list --as acme', 'souk attention', 'souk tui'].map((line) => cyan(io.hint(line))).join('    ')}`,
    )
  },
})

function told(outcome: 'written' | 'there', tookMs: number) {
  return { seed: 'demo' as const, changed: outcome === 'written', people: demoPeople, took_ms: tookMs }
}

/** Whether the running daemon has the demo users. @throws CliError `conflict` if it has only other users */
async function isThere(context: CommandContext<unknown, unknown>): Promise<boolean> {
  const session = await context.session()
  const { participants } = await session.call('listParticipants', { query: { limit: PEOPLE_LIMIT } })
  const { personAt } = await import('../src/market/hand.ts')
  const { url, fingerprint, inTheClear } = session.target
  const stage = { url, fingerprint, inTheClear, adminKey: '', wall: context.io.now }
  const [first] = demoPeople
  const { address } = await personAt(stage, first?.wallet ?? '')
  if (participants.some(({ wallet }) => wallet === address)) return true
  if (participants.some((one) => !one.first_party)) throw demoRefused(context)
  return false
}

const options = z.object({ file: z.text({ description: 'YAML file with users, services and actions', value: 'file' }) })

export const seedLoad = defineCommand({
  name: 'seed load',
  isDefault: true,
  summary: 'load users, services and actions from a file into a sandbox instance',
  description:
    'The file is checked first; --dry-run stops there. Users are {name, title, type, funds, deposit}. Services are {by, name, …} with the fields of a listing. Actions are buy {who, service, input, from, as}, message {who, job, text}, start, deliver {job, deliverables, notes}, fail, verify {job, rating, comment}, dispute {job, reason}. Actions run in order. Existing users and listings are reused; actions run each time the file is loaded.',
  options,
  examples: ['souk seed --file market.yaml', 'souk seed --file market.yaml --dry-run --json'],
  async *run(context) {
    const { file } = context.options
    if (file === undefined)
      throw usage('Name the seed: demo, traffic, or --file FILE.', {
        next: ['souk seed demo', 'souk seed traffic', 'souk help seed load'],
      })
    const { checkedSeed } = await import('../src/market/file/shape.ts')
    const seed = await checkedSeed(context.io, file)
    if (context.globals.dryRun) {
      const counts = `users: ${seed.people.length}, services: ${seed.services.length}, actions: ${seed.acts.length}`
      yield { step: 'file', did: `${counts}; nothing was done`, id: null }
      return
    }
    const { play } = await import('../src/market/file/play.ts')
    yield* play(context, await context.session(), seed)
  },
  view({ step, did, id }, io) {
    io.line(`${green('✓')} ${dim(step.padEnd(12))} ${did}${id === null ? '' : `   ${cyan(id)}`}`)
  },
})

export const seedTraffic = defineCommand({
  name: 'seed traffic',
  summary: 'make the demo users buy and sell until ctrl-c',
  description:
    'Demo buyers buy at the rate of --rate and demo sellers deliver, with normal requests and test money. Missing users register first.',
  options: z.object({
    rate: Rate.default(30).meta({ description: 'sales per minute', value: 'n/min' }),
    for: z.text({ description: 'stop after this time', value: 'duration' }),
  }),
  examples: ['souk seed traffic --rate 60/min --for 2s', 'souk seed traffic --rate 120 --for 1s --ndjson'],
  endsItself: true,
  async *run(context) {
    const { runTraffic } = await import('../src/market/traffic.ts')
    yield* runTraffic(context, context.options)
  },
  view: showTraffic,
})
