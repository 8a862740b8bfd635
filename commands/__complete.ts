import { z } from 'zod'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { allKept } from '../src/cli/nouns/config.ts'
import type { Column } from '../src/cli/output.ts'
import { type Candidate, candidates, type WantedValues } from '../src/cli/run/completion.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { listRemotes } from '../src/client/remotes.ts'
import { LOCAL } from '../src/client/settings.ts'
import { listWallets } from '../src/client/wallets.ts'
import { listSnapshots } from '../src/lifecycle/snapshots.ts'

/** Somebody waits with a finger on the key. */
const ANSWER_MS = 150
const SERVICES_MAX = 100

type Host = CommandContext<unknown, unknown>

const columns: readonly Column<Candidate>[] = [
  { title: 'WORD', value: ({ value }) => value },
  { title: 'WHAT', value: ({ summary }) => summary },
]

export const command = defineCommand({
  name: '__complete',
  summary: 'say which words may come next (what the shells ask)',
  hidden: true,
  args: z.object({ words: z.array(z.string()).default([]).meta({ description: 'the line so far, behind --' }) }),
  options: z.object({
    next: z.boolean().default(false).meta({ description: 'a new word begins, which some shells cannot say' }),
  }),
  ownText: true,
  examples: ['souk __complete --json -- services l', 'souk __complete --json --next -- endpoints list --status'],
  async run(context) {
    const words = context.options.next ? [...context.args.words, ''] : context.args.words
    const found = await candidates({ entries: context.entries, words, values: (wanted) => valuesOf(context, wanted) })
    return { total: found.length, candidates: found }
  },
  rows: ({ candidates: found }) => found,
  columns,
  view({ candidates: found }, io) {
    for (const { value, summary } of found) io.line(`${value}\t${summary}`)
  },
})

/** What there is of something, on this machine or at the instance; nothing where that cannot be said at once. */
async function valuesOf(context: Host, { command: name, member }: WantedValues): Promise<readonly Candidate[]> {
  const { places } = context
  const noun = name.split(' ')[0]
  if (member === 'as' || (noun === 'wallet' && member === 'name')) {
    return listWallets(places).map((wallet) => ({ value: wallet.name, summary: wallet.address }))
  }
  if (member === 'remote' || (noun === 'remote' && member === 'name')) {
    const others = listRemotes(places).map((remote) => ({ value: remote.name, summary: remote.url }))
    return [{ value: LOCAL, summary: 'the daemon of this machine' }, ...others]
  }
  if (name === 'snapshots restore')
    return listSnapshots(context).map((one) => ({ value: one.name, summary: one.saved_at }))
  if (noun === 'config' && member === 'key')
    return allKept(context).map(({ key, summary }) => ({ value: key, summary }))
  if (name === 'help') return Object.keys(topics).map((value) => ({ value, summary: 'topic' }))
  if (member === 'service') return atOnce(context, services)
  if (member === 'cron') return atOnce(context, crons)
  return []
}

async function services(context: Host): Promise<readonly Candidate[]> {
  const query = { limit: String(SERVICES_MAX) }
  const session = await context.session()
  const { services: found } = await session.call('getCatalog', { query })
  return found.map(({ id, name }) => ({ value: id, summary: name }))
}

async function crons(context: Host): Promise<readonly Candidate[]> {
  const session = await context.session()
  const { crons: found } = await session.call('getHealth', {})
  return Object.keys(found).map((value) => ({ value, summary: '' }))
}

async function atOnce(context: Host, ask: (context: Host) => Promise<readonly Candidate[]>) {
  const late = context.system.sleep(ANSWER_MS).then(() => [])
  // No daemon, no answer: a completion has nobody to tell, so it offers nothing.
  return Promise.race([ask(context).catch(() => []), late])
}
