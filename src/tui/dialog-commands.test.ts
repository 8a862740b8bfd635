import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { joinAsRemote } from '../../fixtures/kit/remote-market.ts'
import { type Escrow, openEscrow } from '../../fixtures/market/escrow.ts'
import { jobIn } from '../../fixtures/market/job-states.ts'
import type { Person } from '../../fixtures/market/people.ts'
import { splitWords } from '../cli/split-words.ts'
import { type Callable, readAnswer, wordsOf } from '../client/call.ts'
import type { Link } from '../client/link.ts'
import { fakeClock, fakeLink } from './cockpit.testkit.tsx'
import { walletDialog } from './compliance/dialogs.ts'
import { cronPauseDialog, runDialog } from './crons/dialogs.ts'
import { createHost } from './host.ts'
import { readJob } from './jobs/facts.ts'
import { rulingDialog } from './jobs/ruling-dialog.ts'
import { withdrawDialog } from './jobs/withdraw-dialog.ts'
import { suspendDialog, tierDialog } from './people/dialogs.ts'
import type { PersonFacts } from './people/facts.ts'
import type { DialogSpec, Values } from './shell/dialog.ts'
import { readHealth } from './shell/health.ts'
import { pauseDialog } from './shell/pause-dialog.ts'
import { fetchCrons } from './shell/queries.ts'
import type { Host } from './shell/screen.ts'

const ENTRY = fileURLToPath(new URL('../../dist/souk.js', import.meta.url))
const exec = promisify(execFile)

let escrow: Escrow
let home: string
let buyer: Person
beforeAll(async () => {
  if (!existsSync(ENTRY)) throw new Error('dist/ is not built: npm run build')
  escrow = await openEscrow()
  home = (await joinAsRemote(escrow.market)).home
  buyer = await escrow.agent()
})
afterAll(() => escrow.close())

/** The interface itself, asked as the administrator. */
function adminLink(): Link {
  return {
    ...fakeLink({}, { name: 'shop', guarded: false, option: '-r shop' }),
    async call(name, asked) {
      const { method, path, query = {}, body } = wordsOf(name, asked)
      const text = new URLSearchParams(
        Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
      ).toString()
      const url = text === '' ? path : `${path}?${text}`
      const answer = await escrow.market.admin(method, url, body === undefined ? {} : { body })
      if (answer.status < 400) return { ok: true, value: await readAnswer(name as Callable & typeof name, answer.body) }
      return { ok: false, problem: { kind: 'failed', sentence: answer.body.message, facts: [], next: [] } }
    },
  }
}

async function cockpitHost(): Promise<Host> {
  const link = adminLink()
  const more = { screen: 'overview', refreshMs: 2_000, readonly: false, frameGapMs: 0, copy: () => undefined } as const
  const host = createHost({ link, clock: fakeClock(), snapshot: undefined, commandLine: undefined, ...more })
  const health = await link.call('getHealth', {})
  if (!health.ok) throw new Error(health.problem.sentence)
  return { ...host, health: () => readHealth(health.value) }
}

const person = (who: Person, suspendedAt?: number): PersonFacts => ({
  id: who.id,
  name: 'Somebody',
  wallet: who.account.address,
  type: 'agent',
  tier: 'unverified',
  available: '$0.00',
  held: '$0.00',
  suspendedAt,
  referredBy: '',
  createdAt: undefined,
  raw: {},
})

async function cronOn(host: Host, name: string) {
  const found = await fetchCrons(host.link)(AbortSignal.timeout(5_000))
  const cron = found.ok ? found.value.crons.find((one) => one.name === name) : undefined
  if (cron === undefined) throw new Error(`no ${name}`)
  return cron
}

async function dispute(host: Host): Promise<DialogSpec> {
  const { id } = await jobIn(escrow, { status: 'disputed', buyer })
  const { body } = await escrow.market.admin('GET', `/dashboard/api/admin/jobs/${id}/bundle`)
  return rulingDialog(host, readJob(body.job))
}

async function heldJob(host: Host): Promise<DialogSpec> {
  const { id } = await jobIn(escrow, { status: 'dispatched', buyer })
  const { body } = await escrow.market.admin('GET', `/dashboard/api/admin/jobs/${id}/bundle`)
  return withdrawDialog(host, readJob(body.job))
}

/** Who is new for each of the two ways. */
const fresh = () => escrow.agent()
const WALLETS = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000a2']
let wallets = 0

type Case = {
  readonly title: string
  /** The dialog about a subject of its own. */
  readonly open: (host: Host) => Promise<DialogSpec> | DialogSpec
  readonly values: () => Values
}
const reason = "it's over, they say"
/** In this order: what one pauses, the next lets go on. */
const cases: readonly Case[] = [
  { title: 'pause payments', open: pauseDialog, values: () => ({ reason }) },
  { title: 'run a cron', open: async (host) => runDialog(host, await cronOn(host, 'reputation')), values: () => ({}) },
  {
    title: 'pause and resume a cron',
    open: async (host) => cronPauseDialog(host, await cronOn(host, 'reputation')),
    values: () => ({}),
  },
  { title: 'release', open: dispute, values: () => ({ outcome: 'release', reason, buyer: '' }) },
  { title: 'refund', open: dispute, values: () => ({ outcome: 'refund', reason, buyer: '' }) },
  { title: 'split', open: dispute, values: () => ({ outcome: 'split', reason, buyer: '$0.25' }) },
  { title: 'give money back', open: heldJob, values: () => ({ reason }) },
  { title: 'suspend', open: async (host) => suspendDialog(host, person(await fresh())), values: () => ({ reason }) },
  {
    title: 'lift a suspension',
    async open(host) {
      const who = await fresh()
      const body = { suspended: true, reason }
      await escrow.market.admin('PUT', `/dashboard/api/admin/participants/${who.id}`, { body })
      return suspendDialog(host, person(who, 1))
    },
    values: () => ({ reason }),
  },
  {
    title: 'set a tier',
    open: async (host) => tierDialog(host, person(await fresh())),
    values: () => ({ tier: 'email_verified', reason }),
  },
  {
    title: 'refuse a wallet',
    open: (host) => walletDialog(host, 'add'),
    values: () => ({ wallet: WALLETS[wallets++ % 2] ?? '', reason }),
  },
  {
    title: 'no longer refuse it',
    open: (host) => walletDialog(host, 'remove'),
    values: () => ({ wallet: WALLETS[wallets++ % 2] ?? '' }),
  },
]

/** What the last act was, whomever it was about. */
async function lastAct() {
  const { body } = await escrow.market.admin('GET', '/dashboard/api/admin/log?limit=1')
  const [{ act, changed, reason: why, subject, detail }] = body.acts
  return { act, changed, why, kind: subject.kind, told: Object.keys(detail).toSorted() }
}

test.each(cases)('$title: the command of the dialog does in a shell what the dialog does', async ({ open, values }) => {
  const spec = await open(await cockpitHost())
  const sent = await spec.send(values())
  expect(sent.ok ? '' : sent.problem.sentence).toBe('')
  const byDialog = await lastAct()
  // What is one for all, such as a pause, is taken back before it is done again.
  if (/pause|cron\.pause/.test(byDialog.act)) await (await open(await cockpitHost())).send(values())
  const again = await open(await cockpitHost())
  const [program, ...words] = splitWords(again.command(values()))
  expect(program).toBe('souk')
  const env = { HOME: home, PATH: process.env.PATH ?? '', SOUK_NO_INPUT: '1' }
  await exec(process.execPath, [ENTRY, ...words, '--yes', '--confirm', 'shop'], { env })
  expect(await lastAct()).toEqual(byDialog)
  if (/pause/.test(byDialog.act)) await (await open(await cockpitHost())).send(values())
})
