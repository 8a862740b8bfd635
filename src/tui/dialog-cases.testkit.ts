import { jobIn } from '../../fixtures/market/job-states.ts'
import type { SeenParticipant } from '../nouns/people.ts'
import type { Thread } from '../nouns/threads.ts'
import { fetchClockNow, freezeDialog, moveDialog } from './clock/screen.ts'
import { attemptDialog, walletDialog } from './compliance/screen.ts'
import { type DialogStage, type PersonAt, shownDialog } from './dialog-stage.testkit.ts'
import { rulingDialog, withdrawDialog } from './job/dialogs.ts'
import { mend } from './overview/mend.ts'
import { suspendDialog, tierDialog } from './people/card.ts'
import { fetchService } from './services/rows.ts'
import { changeDialog, hookDialog } from './services/screen.ts'
import { cronPauseDialog, runDialog, spoken } from './shell/act-dialogs.ts'
import { commandDialog } from './shell/commands.ts'
import type { DialogSpec, Values } from './shell/dialog.ts'
import { askAll } from './shell/marks.ts'
import type { Need } from './shell/needs.ts'
import { pauseDialog } from './shell/pause-dialog.ts'
import { fetchCrons } from './shell/queries.ts'
import type { Host } from './shell/screen.ts'
import { declineDialog, offerDialog, writeDialog } from './threads/acts.ts'
import { fetchThread } from './threads/screen.ts'
import { acceptDialog, attachDialog } from './threads/speaking.ts'
import { unserved } from './unserved.testkit.ts'

/* Every dialog of the cockpit, each about a subject of its own, and what the interface says of that subject then. */

export type Subject = {
  readonly spec: DialogSpec
  /** What the interface says of it; besides what administrators did. */
  readonly says?: () => Promise<unknown>
  /** Whose key this machine has; the administrator's unless told. */
  readonly as?: string
}

export type Case = {
  readonly title: string
  readonly open: (stage: DialogStage) => Promise<Subject>
  readonly values: Values
  /** It is one for all: what it did is taken back before it is done again. */
  readonly undo?: (stage: DialogStage) => Promise<unknown>
}

const reason = "it's over, they say"

const person = (who: PersonAt, suspended_at: string | null = null): SeenParticipant => ({
  id: who.id,
  participant_id: who.id,
  name: 'Somebody',
  description: '',
  wallet: who.wallet,
  type: 'agent',
  verification_tier: 'unverified',
  capabilities: [],
  links: {},
  first_party: false,
  created_at: new Date(0).toISOString(),
  suspended_at,
})

async function cronOn(host: Host, name: string) {
  const found = await fetchCrons(host.link)(AbortSignal.timeout(5_000))
  const cron = found.ok ? found.value.crons.find((one) => one.name === name) : undefined
  if (cron === undefined) throw new Error(`no ${name}`)
  return cron
}

/** A job in a state, and what is said of it and of its money. */
async function jobAs(stage: DialogStage, status: 'disputed' | 'dispatched') {
  const { id } = await jobIn(stage.escrow, { status, buyer: stage.buyer })
  const read = async () => (await stage.ask(`/dashboard/api/admin/jobs/${id}/bundle`)).job
  const says = async () => {
    const { status: now, dispute, escrow_status: money } = await read()
    return [now, money, dispute, (await stage.ask(`/dashboard/api/admin/holds?filter=${id}`)).total]
  }
  return { job: await read(), says }
}

const ruling = (values: Values): Case => ({
  title: `a ruling: ${values.outcome}`,
  async open(stage) {
    const { job, says } = await jobAs(stage, 'disputed')
    return { spec: rulingDialog(await stage.host(), job), says }
  },
  values,
})

async function suspended(stage: DialogStage): Promise<PersonAt> {
  const who = await stage.somebody()
  await stage.tell('PUT', `/dashboard/api/admin/participants/${who.id}`, { suspended: true, reason })
  return who
}

const WALLETS = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000a2']
let wallets = 0

/** A wallet of its own for each way. */
function walletCase(title: string, change: 'add' | 'remove'): Case {
  let wallet = ''
  const values = {
    get wallet() {
      return wallet
    },
    reason,
  }
  return {
    title,
    async open(stage) {
      wallet = WALLETS[wallets++ % 2] ?? ''
      return { spec: walletDialog(await stage.host(), change) }
    },
    values,
  }
}

function need(kind: Need['kind'], subject: string): Need {
  const one = {
    ...{ id: `${kind}:${subject}`, kind, subject, grave: true, who: 'Seller', amount: '' },
    ...{ since: undefined, due: undefined, sentence: 'it waits', fix: '' },
  }
  return { ...one, of: [one], count: 1 }
}

async function checked(stage: DialogStage): Promise<Subject> {
  const { id: participant, name } = await stage.somebody()
  const { attempt_id: id, consent_url: link } = await stage.json('verify', 'start', '--as', name)
  await stage.json('verify', 'consent', link, '--operator-name', 'Ann Smith', '--yes')
  const says = async () => {
    const { attempts } = await stage.ask(`/dashboard/api/admin/verification?participant=${participant}`)
    return attempts.find((one: { id: string }) => one.id === id)
  }
  return { spec: attemptDialog(await stage.host(), await says()), says }
}

const attempt = (decision: string): Case => ({
  title: `an identity check ${decision}`,
  open: checked,
  values: { decision, reason },
})

/** A conversation of the buyer with the seller. */
async function conversation(stage: DialogStage, price?: string) {
  const { thread_id: id } = await stage.json('services', 'inquire', stage.listing, '-m', 'A cat?', '--as', 'acme')
  if (price !== undefined) await stage.json('threads', 'propose', id, '--price', price, '--as', 'lingua')
  const found = await fetchThread((await stage.host()).link, { id, admin: true })(AbortSignal.timeout(5_000))
  if (!found.ok || found.value === undefined) throw new Error(`no ${id}`)
  return { thread: found.value, says: () => stage.threadSays(id) }
}

type Spoken = {
  readonly title: string
  readonly as: 'acme' | 'lingua'
  readonly price?: string
  readonly make: (host: Host, thread: Thread, stage: DialogStage) => DialogSpec
  readonly values: Values
}

const speaking = ({ title, as, price, make, values }: Spoken): Case => ({
  title,
  async open(stage) {
    const { thread, says } = await conversation(stage, price)
    return { spec: make(await stage.host(as), thread, stage), says, as }
  },
  values,
})

const asWallet = (stage: DialogStage, name: string) => ({ wallet: name, id: stage.party(name).id })

const conversations: readonly Case[] = [
  speaking({
    title: 'a message of a party',
    as: 'lingua',
    make: (host, thread) => writeDialog(host, thread, 'party'),
    values: { message: "it's $5 & more; done?" },
  }),
  speaking({
    title: 'a price',
    as: 'lingua',
    make: offerDialog,
    values: { price: '$8.40', message: 'in "two" days' },
  }),
  speaking({ title: 'no price', as: 'acme', make: declineDialog, values: {} }),
  speaking({
    title: 'a price accepted',
    as: 'acme',
    price: '2.00',
    make: (host, thread, stage) => spoken(host, acceptDialog(host, thread), asWallet(stage, 'acme')),
    values: {},
  }),
  speaking({
    title: 'a file',
    as: 'acme',
    make: (host, thread, stage) => spoken(host, attachDialog(host, thread), asWallet(stage, 'acme')),
    values: { file: 'brief one.txt', message: 'what to draw' },
  }),
  {
    title: 'a message of the house',
    async open(stage) {
      const { services } = await stage.json('services', 'list', '--search', 'qr')
      const { thread_id: id } = await stage.json('services', 'inquire', services[0].id, '-m', 'Why?', '--as', 'acme')
      const found = await fetchThread((await stage.host()).link, { id, admin: true })(AbortSignal.timeout(5_000))
      if (!found.ok || found.value === undefined) throw new Error(`no ${id}`)
      return { spec: writeDialog(await stage.host(), found.value, 'house'), says: () => stage.threadSays(id) }
    },
    values: { message: 'Because.' },
  },
]

async function ownListing(stage: DialogStage) {
  const host = await stage.host('lingua')
  const found = await fetchService(host.link, stage.listing)(AbortSignal.timeout(5_000))
  if (!found.ok || found.value === undefined) throw new Error('no listing')
  return { host, service: found.value }
}

const hooks: readonly Case[] = [
  {
    title: 'a changed listing',
    async open(stage) {
      const { host, service } = await ownListing(stage)
      const description = 'Cats; drawn "anew"'
      const changes = { settings: [`description=${description}`], differences: [], body: { description } }
      const says = async () => (await stage.json('services', 'view', stage.listing)).description
      return { spec: changeDialog(host, service, changes), says, as: 'lingua' }
    },
    values: {},
    undo: (stage) => stage.json('services', 'edit', stage.listing, '--set', 'description=Cats', '--as', 'lingua'),
  },
  {
    title: 'a test of a webhook',
    async open(stage) {
      const { host, service } = await ownListing(stage)
      const before = stage.received()
      return { spec: hookDialog(host, service), says: async () => stage.received() - before, as: 'lingua' }
    },
    values: {},
  },
  {
    title: 'a delivery sent again',
    async open(stage) {
      await conversation(stage)
      const [{ id }] = await stage.deliveries()
      const host = await stage.host()
      const says = async () => (await stage.deliveries()).find((one) => one.id === id)
      await mend(host, need('delivery', id))
      return { spec: shownDialog(host), says }
    },
    values: {},
  },
]

/** The clock stands still, so that what it shows is exact. */
async function clockSays(stage: DialogStage): Promise<() => Promise<unknown>> {
  const before = await stage.ask('/dashboard/api/admin/clock')
  return async () => {
    const { now, state } = await stage.ask('/dashboard/api/admin/clock')
    const moved = before.state === 'frozen' && state === 'frozen' ? Date.parse(now) - Date.parse(before.now) : undefined
    return { state, moved }
  }
}

const clockCase = (title: string, make: typeof moveDialog, more: Pick<Case, 'values' | 'undo'>): Case => ({
  title,
  async open(stage) {
    const host = await stage.host()
    const found = await fetchClockNow(host.link)(AbortSignal.timeout(5_000))
    if (!found.ok) throw new Error(found.problem.sentence)
    return { spec: make(host, found.value), says: await clockSays(stage) }
  },
  ...more,
})

const move = (state: 'running' | 'frozen') => (stage: DialogStage) =>
  stage.tell('POST', '/dashboard/api/admin/clock', { state })

const clocks: readonly Case[] = [
  clockCase('the clock stopped', freezeDialog, { values: {}, undo: move('running') }),
  clockCase('the clock an hour ahead', moveDialog, { values: { step: '1h' } }),
  clockCase('the clock a day ahead', moveDialog, { values: { step: '1d' } }),
  clockCase('the clock going on', freezeDialog, { values: {}, undo: move('frozen') }),
]

const pause = (paused: boolean) => (stage: DialogStage) =>
  paused
    ? stage.tell('POST', '/dashboard/api/admin/platform/pause', { reason })
    : stage.tell('POST', '/dashboard/api/admin/platform/unpause', {})

const people: readonly Case[] = [
  {
    title: 'a suspension',
    open: async (stage) => ({ spec: suspendDialog(await stage.host(), person(await stage.somebody())) }),
    values: { reason },
  },
  {
    title: 'a suspension lifted',
    open: async (stage) => ({
      spec: suspendDialog(await stage.host(), person(await suspended(stage), new Date(1).toISOString())),
    }),
    values: { reason },
  },
  {
    title: 'two suspensions at once',
    async open(stage) {
      const host = await stage.host()
      const both = [await stage.somebody(), await stage.somebody()]
      askAll(
        host,
        both.map((one) => suspendDialog(host, person(one))),
      )
      const says = () => Promise.all(both.map(({ id }) => stage.isSuspended(id)))
      return { spec: shownDialog(host), says }
    },
    values: { reason },
  },
  {
    title: 'a tier',
    open: async (stage) => ({ spec: tierDialog(await stage.host(), person(await stage.somebody())) }),
    values: { tier: 'email_verified', reason },
  },
]

export const cases: readonly Case[] = [
  {
    title: 'a pause of payments',
    open: async (stage) => ({ spec: pauseDialog(await stage.host()) }),
    values: { reason },
    undo: pause(false),
  },
  {
    title: 'the end of a pause',
    open: async (stage) => ({ spec: pauseDialog(await stage.host()) }),
    values: {},
    undo: pause(true),
  },
  {
    title: 'a cron run',
    open: async (stage) => {
      const host = await stage.host()
      return { spec: runDialog(host, await cronOn(host, 'reputation')) }
    },
    values: {},
  },
  {
    title: 'a cron off its schedule',
    open: async (stage) => {
      const host = await stage.host()
      return { spec: cronPauseDialog(host, await cronOn(host, 'reputation')) }
    },
    values: {},
    undo: (stage) => stage.tell('POST', '/dashboard/api/admin/crons/reputation/resume', {}),
  },
  {
    title: 'a cron back on its schedule',
    open: async (stage) => {
      const host = await stage.host()
      return { spec: cronPauseDialog(host, await cronOn(host, 'reputation')) }
    },
    values: {},
    undo: (stage) => stage.tell('POST', '/dashboard/api/admin/crons/reputation/pause', {}),
  },
  {
    title: 'a command of the palette',
    async open(stage) {
      const [named, line] = [{ name: 'crons run', summary: '', rest: ['reputation'] }, stage.commandLine]
      return { spec: commandDialog(await stage.host(), line, named) }
    },
    values: {},
  },
  ruling({ outcome: 'release', reason, buyer: '' }),
  ruling({ outcome: 'refund', reason, buyer: '' }),
  ruling({ outcome: 'split', reason, buyer: '$0.25' }),
  {
    title: 'money given back',
    async open(stage) {
      const { job, says } = await jobAs(stage, 'dispatched')
      return { spec: withdrawDialog(await stage.host(), job), says }
    },
    values: { reason },
  },
  {
    title: 'escrow going on',
    async open(stage) {
      await stage.escrow.setPaused({ escrow: true })
      const host = await stage.host()
      await mend(host, need('escrow', ''))
      return { spec: shownDialog(host) }
    },
    values: {},
  },
  { title: 'an unserved period made good', open: unserved, values: { reason } },
  ...people,
  walletCase('a wallet refused', 'add'),
  walletCase('a wallet no longer refused', 'remove'),
  attempt('approved'),
  attempt('rejected'),
  ...conversations,
  ...hooks,
  ...clocks,
]
