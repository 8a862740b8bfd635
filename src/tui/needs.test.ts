import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alarms } from '../../daemon/features/attention/alarms.ts'
import { createDaemon, type Daemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { type MailSink, openMailSink } from '../../fixtures/kit/mail-sink.ts'
import { openProvider, type Provider } from '../../fixtures/kit/provider.ts'
import { passedOn, readAnswer } from '../client/call.ts'
import { createTransport } from '../client/transport.ts'
import { usdc } from '../core/money.ts'
import { type Opened as Cast, joinCast } from '../market/cast.ts'
import type { Stage } from '../market/hand.ts'
import { type Triggered, trigger, triggers } from '../market/situations/run.ts'
import { type AttentionKind, attentionKinds } from '../model/words.ts'
import { attentionWords } from '../nouns/attention.ts'
import type { ScreenId } from '../nouns/screens.ts'
import { type FakeLink, fakeLink, type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import type { Ui } from './shell/ui.ts'

// @slow every kind of attention item, in a market of its own

// @story one inbox, emptied by its own keys

let folder: string
let daemon: Daemon
let hook: Provider
let mail: MailSink
/** More than the demo has, and less than the faucet gives a day. */
const CEILING = usdc(900_000_000n)
let stage: Stage
let cast: Cast
let open: Opened | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-needs-'))
  hook = await openProvider()
  mail = await openMailSink()
  const notify = [`webhook:${hook.url}`, `smtp://127.0.0.1:${mail.port}?to=ops@example.org`]
  daemon = await createDaemon({ ...configDefaults, dataDir: folder, crons: true, notify, hotCeiling: CEILING })
  const adminKey = (await readFile(join(folder, 'admin.key'), 'utf8')).trim()
  stage = { url: daemon.url, adminKey, wall: () => Date.now() }
  cast = await joinCast(stage, () => undefined)
})
afterAll(async () => {
  open?.close()
  await daemon.stop()
  await hook.close()
  await mail.close()
  await rm(folder, { recursive: true, force: true })
})

const send = (path: string, body?: string) =>
  createTransport({ baseUrl: stage.url })({
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: { authorization: `Bearer ${stage.adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
    timeoutMs: 0,
  })

const events = (signal: AbortSignal) =>
  createTransport({ baseUrl: stage.url })({
    method: 'GET',
    path: '/dashboard/api/admin/events',
    headers: { authorization: `Bearer ${stage.adminKey}` },
    timeoutMs: 0,
    signal,
  })

async function happens(kind: AttentionKind): Promise<Triggered | undefined> {
  const type = `attention.${kind}` as const
  const situation = triggers[type]
  return 'why' in situation ? undefined : trigger({ ...cast, stage, type, folder, events }, situation)
}

/** The daemon itself behind the cockpit's link. */
function linkTo(): FakeLink {
  const link = fakeLink()
  return Object.assign(link, {
    async call(name, asked) {
      const { method, path, query = {}, body } = passedOn(name, asked)
      const text = new URLSearchParams(
        Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
      ).toString()
      const answer = await send(
        text === '' ? path : `${path}?${text}`,
        method === 'GET' ? undefined : JSON.stringify(body ?? {}),
      )
      const told = JSON.parse(await answer.text())
      if (answer.status < 400) return { ok: true, value: await readAnswer(name, told) }
      return { ok: false, problem: { kind: 'failed', sentence: told.message, facts: [], next: [] } }
    },
  } satisfies Pick<FakeLink, 'call'>)
}

const isOpen = async (id: string) => (await cast.operator.call('getAttention', {})).items.some((one) => one.id === id)

/** A command line that says what it was asked to run. */
const commandLine: OpenOptions['commandLine'] = {
  commands: ['facilitator show', 'admin subs list', 'admin payouts'].map((name) => ({
    name,
    summary: '',
  })),
  split: (line) => line.split(' '),
  complete: async () => [],
  run: async (words) => ({ ok: true, value: words.join(' ') }),
}
const size = { columns: 160, rows: 50, commandLine }

const chosenRow = ({ rows }: Opened) => rows().find((row) => row.startsWith('▌')) ?? ''
/** The key that a row names, with its verb. */
const VERB =
  /(?<key>[A-Z]|enter) (?<verb>unpause|resume|try now|decide|refund|run now|settle|send it|resend|fetch now|look) *(?:[│├┤]|$)/

/** Puts the cursor on the row of a problem. */
async function choose({ host, type, until }: Opened, id: string): Promise<void> {
  host.ui.set({ ...host.ui.get(), screen: 'overview', panel: 'needs', picker: undefined })
  host.queries.refetch()
  const at = () => host.face.current.ids.indexOf(id)
  await until(() => host.face.current.screen === 'overview' && at() >= 0)
  await type('g')
  for (let i = at(); i > 0; i -= 1) await type('j')
}

/** Confirms what is open, with its first choice and a reason where it asks for them. */
async function confirm({ host, text, type, until }: Opened): Promise<void> {
  await until(() => host.ui.get().dialog !== undefined)
  const { dialog } = host.ui.get()
  if (dialog === undefined) throw new Error(`no dialog is open:\n${text()}`)
  for (const { name, choices } of dialog.spec.fields) {
    await type(choices?.[0]?.[0] ?? (name === 'reason' ? 'so it is' : ''))
    await type('\t')
  }
  await type('y')
  await until(() => host.ui.get().dialog === undefined)
}

type Landing = { readonly screen: ScreenId; readonly view?: Partial<Ui>; readonly shows?: string }
/** Where `enter look` leads, by kind. Where nothing else is said, the list has the record alone. */
const landings: Readonly<Partial<Record<AttentionKind, Landing>>> = {
  platform: { screen: 'endpoints', shows: 'VERB' },
  escrow: { screen: 'money', shows: 'Books' },
  chain: { screen: 'overview', shows: 'souk facilitator show' },
  payout: { screen: 'money', view: { moneyView: 'payouts' } },
  dispute: { screen: 'jobs' },
  overdue: { screen: 'jobs' },
  stuck: { screen: 'jobs' },
  unserved_period: { screen: 'services', view: { shopView: 'subscriptions' } },
  past_due: { screen: 'services', view: { shopView: 'subscriptions' } },
  inquiry: { screen: 'threads' },
  delivery: { screen: 'logs' },
  endpoint: { screen: 'services', view: { shopView: 'services' } },
  cron: { screen: 'crons', shows: 'reputation' },
  sanctions_list: { screen: 'compliance', shows: 'Sanctions list' },
  hot_balance: { screen: 'money', shows: 'Payouts' },
  backup: { screen: 'logs', shows: 'POST' },
}

const PACE_MS = 5

/** Opens the chosen row and finds there what the row is about. */
async function looks(cockpit: Opened, kind: AttentionKind, { subject }: Triggered): Promise<void> {
  const { host, type, text, until, clock } = cockpit
  const { screen, view = {}, shows } = landings[kind] ?? { screen: 'overview' }
  await type('\r')
  await until(() => host.face.current.screen === screen)
  expect(host.ui.get()).toMatchObject(view)
  const isThere = () => (shows === undefined ? host.face.current.ids.join() === subject.id : text().includes(shows))
  // A row's details are asked for when the cursor has rested on it for a moment, so the clock goes on.
  await until(() => {
    if (!isThere()) clock.advance(PACE_MS)
    return isThere()
  })
}

let reader: Opened | undefined
afterAll(() => reader?.close())

describe.each(attentionKinds)('%s', (kind) => {
  let problem: Triggered | undefined

  test('is caused, or it is said why not', async () => {
    problem = await happens(kind)
    expect(problem === undefined).toBe('why' in triggers[`attention.${kind}`])
    if (problem) expect(await isOpen(problem.id)).toBe(true)
    else expect(triggers[`attention.${kind}`]).toMatchObject({ next: expect.stringMatching(/^souk /) })
  })

  test('is told once by a webhook and a mail', async () => {
    if (problem === undefined) return
    const { id } = problem
    for (let turns = 0; turns < 2; turns += 1) await alarms.of(daemon.ctx).turn()
    const { sentence } = (await cast.operator.call('getAttention', {})).items.find((one) => one.id === id) ?? {}
    const told = (part: 'raised' | 'over') =>
      hook.received
        .flatMap(({ body }) => body[part])
        .flatMap(({ items }) => items.filter((item: { id: string }) => item.id === id))
    expect(told('raised').length - told('over').length).toBe(1)
    expect(told('raised').at(-1).sentence).toBe(sentence)
    expect(mail.received.filter((text) => text.includes(`${sentence}`))).not.toEqual([])
    expect(mail.received.length).toBe(hook.received.length)
  })

  test('is looked at where it is', async () => {
    if (problem === undefined) return
    reader ??= await openOn({ ...size, link: linkTo(), readonly: true, now: Date.now() })
    await choose(reader, problem.id)
    // Who may only read is offered no other key.
    expect(VERB.exec(chosenRow(reader))?.groups).toEqual({ key: 'enter', verb: 'look' })
    await looks(reader, kind, problem)
  })

  test('is mended by the key that its row names', async () => {
    if (problem === undefined) return
    const { id } = problem
    open ??= await openOn({ ...size, link: linkTo(), now: Date.now() })
    await choose(open, id)
    const { key, verb } = VERB.exec(chosenRow(open))?.groups ?? {}
    expect(key === 'enter').toBe(attentionWords[kind].mend === undefined)
    if (key === 'enter') return looks(open, kind, problem)
    await open.type(key ?? '')
    await confirm(open)
    // The listing is sold again when its endpoint has accepted what was sent again.
    if (verb === 'resend') expect(open.text()).toContain('is sent again.')
    else await expect.poll(() => isOpen(id)).toBe(false)
    for (const name of ['escrow-monitor', 'reputation', 'ofac-sdn-refresh'])
      await cast.operator.call('resumeCron', { params: { name } })
  })
})
