import { createHash } from 'node:crypto'
import { type AlarmTarget, isQuietAt, readAlarmTarget } from '../../../src/core/alarm-target.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { installation } from '../../kernel/identity.ts'
import type { Ticker } from '../../ports/clock.ts'
import { commit } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import { changesFor, type Problems, toldAfter } from './alarm-changes.ts'
import { type AlarmMessage, type AlarmRow, alarmRows, type ToldItem } from './alarm-rows.ts'
import { type AlarmMail, sendAlarm } from './alarm-send.ts'

/** Time between two looks for changes. */
const TURN_MS = MINUTE_MS
/** Pauses after failed tries; after the last one, an hour. The message stays: an earlier try may have arrived unnoticed. */
const PAUSES_MS = [1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS)
/** Failures in a row after which other targets and the operator are told. */
export const FAILURES_TOLD = 2
const ID_CHARS = 16
const MAX_ROWS = 100
const MAX_ERROR_CHARS = 300
const EVENT_BYTES = 8

type Target = AlarmTarget & { readonly id: string }
export type TestResult = { readonly target: string; readonly ok: boolean; readonly detail: string }

export type Alarms = {
  readonly targets: readonly Target[]
  /** Signs webhook messages; stays the same while the admin key does. */
  readonly secret: string
  /** Looks for changes now, and then every minute. */
  readonly start: (ticker: Ticker) => void
  /** Tells each target what changed since its last message. */
  readonly turn: () => Promise<void>
  readonly test: () => Promise<readonly TestResult[]>
}

export const alarms = defineResource<Alarms>('alarms')

type Look = (ctx: Context) => Promise<Problems>

/** @param send - of tests, in place of the real one */
export function openAlarms(ctx: Context, look: Look, send: typeof sendAlarm = sendAlarm): void {
  const targets = (ctx.config.notify ?? []).flatMap((text) => {
    const target = readAlarmTarget(text)
    const id = createHash('sha256').update(text).digest('hex').slice(0, ID_CHARS)
    return target ? [{ ...target, id }] : []
  })
  const seed = createHash('sha256').update(`alarms ${installation.of(ctx).sealingSecret}`)
  const secret = `whsec_${seed.digest('base64')}`
  let running: Promise<void> | undefined
  let last = Number.NEGATIVE_INFINITY
  let unfollow: (() => void) | undefined

  function turn(): Promise<void> {
    running ??= turnOf(ctx, { targets, secret, look, send }).finally(() => {
      running = undefined
    })
    return running
  }

  function tick(): void {
    const now = ctx.clock.wall()
    if (now - last < TURN_MS) return
    last = now
    turn().catch((error: unknown) => ctx.log.error({ source: 'alarms', err: String(error) }, 'alarms failed'))
  }

  const test = () => Promise.all(targets.map((target) => tested(ctx, target, { secret, send })))
  const start = (ticker: Ticker) => {
    if (targets.length > 0) unfollow = ticker(tick)
  }
  alarms.open(ctx, { targets, secret, start, turn, test }, async () => {
    unfollow?.()
    await running?.catch(() => undefined) // the tick logs it
  })
}

type Sending = { readonly secret: string; readonly send: typeof sendAlarm }
type Turn = Sending & { readonly targets: readonly Target[]; readonly look: Look }

async function turnOf(ctx: Context, { targets, look, ...sending }: Turn): Promise<void> {
  await forgetOthers(ctx, targets)
  const problems = await look(ctx)
  await Promise.all(targets.map((target) => tell(ctx, target, { problems, ...sending })))
}

/** Removes rows of targets that are no longer set. If such a target is set again, it is told all open problems. */
async function forgetOthers(ctx: Context, targets: readonly Target[]): Promise<void> {
  const known = new Set(targets.map(({ id }) => id))
  for (const { id } of await allRows(ctx)) {
    if (!known.has(id)) await commit(ctx, async (t) => void (await t.table(alarmRows).delete(id)))
  }
}

export function allRows({ store }: Pick<Context, 'store'>): Promise<readonly AlarmRow[]> {
  return everyRow(store.table(alarmRows), { index: 'all', prefix: [], limit: MAX_ROWS })
}

const unknown = {
  told: [],
  pending: null,
  failures: 0,
  failing_since: null,
  error: null,
  next_try_at: 0,
  sent_at: null,
}

type Telling = Sending & { readonly problems: Problems }

/** Sends a target its open message, or one about what changed. Nothing if neither exists, or it has to wait. */
async function tell(ctx: Context, target: Target, { problems, secret, send }: Telling): Promise<void> {
  const { store, clock, stopping: signal } = ctx
  const row = (await store.table(alarmRows).get(target.id)) ?? { ...unknown, id: target.id }
  const now = clock.wall()
  if (row.next_try_at > now) return
  const message = row.pending ?? composed(ctx, row.told, ofOthers(problems, target))
  if (message === undefined) return
  if (row.pending === null) await put(ctx, { ...row, pending: message })
  const error = await failureOf(send(ctx, target, { mail: mailOf(ctx, message), secret, signal }))
  // A stop cuts the try short. The next start sends the same message.
  if (signal.aborted && error !== null) return
  const { failures } = row
  const wait = PAUSES_MS[failures] ?? HOUR_MS
  await put(
    ctx,
    error === null
      ? { ...row, ...unknown, told: toldAfter(row.told, message), sent_at: clock.wall() }
      : {
          ...row,
          ...{ failures: failures + 1, failing_since: row.failing_since ?? now, error },
          ...{ pending: message, next_try_at: clock.wall() + wait },
        },
  )
}

async function put(ctx: Context, row: Omit<AlarmRow, 'version'>): Promise<void> {
  await commit(ctx, async (t) => {
    await t.table(alarmRows).getForUpdate(row.id)
    await t.table(alarmRows).put(row)
  })
}

/** A target that fails cannot be told so itself. */
function ofOthers({ items, counts }: Problems, { id }: Target): Problems {
  const others = items.filter((item) => item.id !== `alarm ${id}`)
  return { items: others, counts: others.length === items.length ? counts : { ...counts, alarm: 0 } }
}

function composed(ctx: Context, told: readonly ToldItem[], problems: Problems): AlarmMessage | undefined {
  const at = ctx.clock.wall()
  const { raised, over } = changesFor(told, problems, isQuietAt(ctx.config.quietHours, new Date(at)))
  if (raised.length + over.length === 0) return undefined
  const event = `evt_${ctx.entropy(EVENT_BYTES).toString('hex')}`
  return { event_id: event, created_at: at, raised: raised.map(kept), over: [...over] }
}

function kept({ id, kind, grave, sentence, fix }: ToldItem): ToldItem {
  return { id, kind, grave, sentence, fix }
}

/** Why a message did not arrive, in one line; null if it did. */
async function failureOf(sent: Promise<void>): Promise<string | null> {
  try {
    await sent
    return null
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    return line.slice(0, MAX_ERROR_CHARS)
  }
}

function mailOf(ctx: Context, { event_id: id, created_at: at, raised, over }: AlarmMessage): AlarmMail {
  const instance = { instance_id: installation.of(ctx).instanceId, url: ctx.baseUrl() }
  const groups = [groupsOf(raised), groupsOf(over)] as const
  const kinds = [...new Set([...raised, ...over].map(({ kind }) => kind))].join(', ')
  const count = raised.length === 0 ? `${over.length} over` : `${raised.length} new`
  const [news = [], ended = []] = groups.map((group) =>
    group.flatMap(({ kind, items }) => [kind, ...items.map(lineOf)]),
  )
  const [head, foot] = [news.length > 0 ? ['NEW', ...news, ''] : [], ended.length > 0 ? ['OVER', ...ended, ''] : []]
  return {
    id,
    subject: `souk: ${count} (${kinds})`,
    text: [...head, ...foot, `${instance.url}   souk attention`, ''].join('\n'),
    body: JSON.stringify({
      type: 'attention.changed',
      ...{ event_id: id, created_at: new Date(at).toISOString(), ...instance },
      ...{ raised: groups[0], over: groups[1] },
    }),
  }
}

const lineOf = ({ grave, sentence, fix }: ToldItem) => `${grave ? '✗' : '!'} ${sentence}\n    ${fix}`

function groupsOf(items: readonly ToldItem[]) {
  return [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, list]) => ({
    kind,
    count: list.length,
    items: list.map(kept),
  }))
}

async function tested(ctx: Context, target: Target, { secret, send }: Sending): Promise<TestResult> {
  const id = `evt_${ctx.entropy(EVENT_BYTES).toString('hex')}`
  const at = ctx.clock.wall()
  const said = { type: 'attention.test', event_id: id, created_at: new Date(at).toISOString(), url: ctx.baseUrl() }
  const mail = { id, subject: 'souk: test of alarms', text: `Alarms of ${ctx.baseUrl()} arrive here.\n` }
  const sending = { mail: { ...mail, body: JSON.stringify(said) }, secret, signal: ctx.stopping }
  const error = await failureOf(send(ctx, target, sending))
  return { target: target.shown, ok: error === null, detail: error ?? `it arrived within ${ctx.clock.wall() - at} ms` }
}
