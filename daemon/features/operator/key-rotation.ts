import type { Input } from '../../../src/api/endpoint/define.ts'
import type { chainApi } from '../../../src/api/sections/chain.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Call } from '../../endpoint/handler.ts'
import { audit } from '../../events/event-log.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import type { ChainTransaction, OperatorKey, OperatorKeys } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import { deals } from '../escrow/rows.ts'
import { payments } from '../payments/rows.ts'
import { payouts } from '../payouts/rows.ts'
import { setPaused, switches } from './platform-routes.ts'

/** How often a rotation looks for its next step. */
const TICK_MS = SECOND_MS
/** A replaced address is swept at most once in this time, because every sweep costs gas. A leaked one at every tick. */
const SWEEP_MS = MINUTE_MS
const SLICE_ROWS = 500
const NEVER_USED = `0x${'0'.repeat(64)}` as const

type Rotation = {
  /** Continues all rotations as far as possible. */
  readonly advance: () => Promise<void>
}

const rotation = defineResource<Rotation>('key-rotation')

/** Continues rotations that are under way, also those of an earlier process. */
export function openKeyRotation(ctx: Context): void {
  const { keys } = ctx.chain
  if (!keys) return void rotation.open(ctx, { advance: async () => undefined })
  const sweptAt = new Map<Wallet, number>()
  let running: Promise<boolean> | undefined
  let isUnderWay = true
  const advance = async () => {
    isUnderWay = true
    // A run that has begun may not know of a new rotation.
    await running?.catch(() => undefined)
    running ??= advanceKeys(ctx, keys, sweptAt).finally(() => {
      running = undefined
    })
    isUnderWay = await running
  }
  let timer: NodeJS.Timeout
  const tick = async () => {
    if (isUnderWay) await advance().catch((error: unknown) => warn(ctx, error))
    if (!ctx.stopping.aborted) timer = setTimeout(tick, TICK_MS).unref()
  }
  timer = setTimeout(tick, TICK_MS).unref()
  const stop = async () => {
    clearTimeout(timer)
    // The steps are stored, and the next start continues them.
    await running?.catch(() => undefined)
  }
  rotation.open(ctx, { advance }, stop)
}

function warn({ log }: Context, error: unknown): void {
  log.warn({ source: 'keys', err: String(error) }, 'the rotation of a key waits')
}

/** @returns whether a rotation is under way */
async function advanceKeys(ctx: Context, keys: OperatorKeys, sweptAt: Map<Wallet, number>): Promise<boolean> {
  const all = await keys.list()
  const leaked = all.filter(({ role, state, leaked: is }) => is && role === 'pay_to' && state !== 'retired')
  // Money at a leaked address goes first, before anything that takes longer.
  for (const { address } of leaked) await keys.sweep(address, 0n)
  for (const { role, state } of all) if (state === 'next') await keys.replace(role)
  const retiring = (await keys.list()).filter(({ state }) => state === 'retiring')
  const steps = { pay_to: advancePayTo, gas: advanceGas }
  for (const key of retiring) await steps[key.role](ctx, keys, { key, sweptAt })
  return retiring.length > 0
}

type Retiring = { readonly key: OperatorKey; readonly sweptAt: Map<Wallet, number> }

async function advancePayTo(ctx: Context, keys: OperatorKeys, { key, sweptAt }: Retiring): Promise<void> {
  const { address, until, leaked } = key
  const now = ctx.clock.wall()
  // Read first: what arrives later is then swept by a later step.
  const { owes, isAwaited } = await duesOf(ctx, address)
  const isPaid = ({ transfers }: ChainTransaction) => transfers.some(({ to }) => to === address)
  const isOver = now >= (until ?? 0) && !isAwaited && (await isAllFinal(ctx, address, isPaid))
  if (!isOver && !leaked && now - (sweptAt.get(address) ?? 0) < SWEEP_MS) return
  const left = await keys.sweep(address, leaked ? 0n : owes)
  sweptAt.set(address, now)
  if (isOver && owes === 0n && left === 0n) await keys.retire(address)
}

/** Takes its roles and its ETH from a replaced gas key, until no reorganisation can need it any more. */
async function advanceGas(ctx: Context, keys: OperatorKeys, { key, sweptAt }: Retiring): Promise<void> {
  const { address, leaked } = key
  const now = ctx.clock.wall()
  const isOver = await isAllFinal(ctx, address, ({ id }) => id.startsWith(address))
  if (!isOver && !leaked && now - (sweptAt.get(address) ?? 0) < SWEEP_MS) return
  const left = await keys.sweep(address, 0n)
  sweptAt.set(address, now)
  if (isOver && left === 0n) await keys.retire(address)
}

type Dues = {
  /** Signed payouts and deposits that are not paid yet. */
  readonly owes: bigint
  readonly escrow: bigint
  /** Whether payments or money of jobs may still arrive. */
  readonly isAwaited: boolean
}

const noDues: Dues = { owes: 0n, escrow: 0n, isAwaited: false }

async function duesOf({ store }: Context, address: Wallet): Promise<Dues> {
  return store.read(async (t) => {
    const due = await everyRow(t.table(payouts), { index: 'due', prefix: [], limit: SLICE_ROWS })
    const held = await everyRow(t.table(deals), { index: 'open', prefix: [], limit: SLICE_ROWS })
    const paid = await everyRow(t.table(payments), { index: 'open', prefix: [], limit: SLICE_ROWS })
    // Rows of earlier builds do not name their key.
    const signed = due.filter(({ status, from = address }) => status !== 'created' && from === address)
    const own = held.filter(({ refund_to: to }) => to === address)
    const sent = own.filter(({ state, sent: isSent }) => state === 'none' && isSent)
    const escrow = sum(own.filter(({ state }) => state === 'held').map(({ net, fee }) => net + fee))
    const isPaying = paid.some(({ authorization }) => authorization && (authorization.to ?? address) === address)
    return {
      owes: sum([...signed.map(({ amount }) => amount), ...sent.map(({ net, fee }) => net + fee)]),
      escrow,
      isAwaited: isPaying || own.some(({ state, sent: isSent }) => state === 'held' || isSent),
    }
  })
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, one) => all + one, 0n)
}

/** Whether no reorganisation can undo some transactions, which would be sent again. */
async function isAllFinal(
  { chain }: Context,
  address: Wallet,
  isOne: (row: ChainTransaction) => boolean,
): Promise<boolean> {
  const { asOf } = await chain.authorizationState(address, NEVER_USED, 'final')
  for (let offset = 0; ; offset += SLICE_ROWS) {
    const { rows, total } = await chain.transactions.page({ isOpen: true, limit: SLICE_ROWS, offset })
    const young = rows.filter(({ included }) => !included || included.block > asOf.block)
    if (young.some(isOne)) return false
    if (offset + SLICE_ROWS >= total) return true
  }
}

type RotateInput = Input<(typeof chainApi)['rotateOperatorKey']>['body']

/** Begins a rotation, or tells how far it is. Can be repeated: only one rotation of a role is under way. */
export async function rotateKey(body: RotateInput, call: Call) {
  const { ctx } = call
  const { role, leaked = false, reason = null } = body
  const { keys } = ctx.chain
  if (!keys) return { keys: [], paused: ctx.switches.now().paused, todo: [] }
  const { target, isNew } = await targetOf(ctx, keys, body)
  if (isNew) await keys.prepare({ role, source: body.key_file, address: body.address })
  // Who repeats the command after an unpause pauses nothing. The mark is last, so that a crash before it pauses again.
  if (leaked && !(await keys.list()).some((key) => key.address === target && key.leaked)) {
    await setPaused(call, switches.platform, { isPaused: true, reason: reason ?? `the key ${target} leaked` })
    await keys.markLeaked(target)
  }
  await commit(ctx, (t, draw) =>
    audit(t, draw, { act: 'keys.rotate', subject: { kind: 'key', id: target }, changed: isNew, reason, by: call }),
  )
  // The steps are stored, so the daemon continues them if the chain does not answer now.
  await rotation
    .of(ctx)
    .advance()
    .catch((error: unknown) => warn(ctx, error))
  return rotationView(ctx, keys, { role, isFile: body.key_file !== undefined })
}

/**
 * The key to replace. Without an address, this is the one whose rotation is under way, else the current one.
 * @throws AppError 409 without an address if an earlier rotation has ended: who repeats a command begins no new one
 */
async function targetOf(
  { chain }: Context,
  keys: OperatorKeys,
  { role, replaces }: RotateInput,
): Promise<{ readonly target: Wallet; readonly isNew: boolean }> {
  const known = (await keys.list()).filter((key) => key.role === role)
  const current = role === 'gas' ? chain.status?.().gas?.address : chain.payTo
  const isBegun = known.some(({ state }) => state === 'next')
  const begun = isBegun ? undefined : known.find(({ state }) => state === 'retiring')?.address
  const target = replaces ?? begun ?? current
  if (target === undefined || current === undefined)
    throw new AppError('unavailable', 'The chain does not respond: try again.')
  if (target !== current && !known.some(({ address }) => address === target)) {
    throw invalidField('replaces', `is not a ${role} key of this marketplace; the current one is ${current}`)
  }
  const [ended] = known.filter(({ state }) => state === 'retired').toSorted((one, other) => other.since - one.since)
  if (ended && (replaces ?? begun) === undefined && !isBegun) {
    const last = `The last rotation of the ${role} key ended at ${new Date(ended.since).toISOString()}`
    const now = `${ended.address} is retired and ${current} in use`
    throw new AppError('conflict', `${last}: ${now}. To replace that too, add --replaces ${current}.`)
  }
  return { target, isNew: target === current && !isBegun }
}

async function rotationView(ctx: Context, keys: OperatorKeys, { role, isFile }: { role: string; isFile: boolean }) {
  const used = (await keys.list()).filter((key) => key.role === role && key.state !== 'retired')
  const rows = await Promise.all(used.map((key) => keyView(ctx, key)))
  const { paused } = ctx.switches.now()
  const isLeaked = used.some(({ leaked }) => leaked)
  return {
    keys: rows,
    paused,
    todo: [
      ...(rows.some(({ next }) => next !== null) ? ['keep the old key until this command shows it no more'] : []),
      ...(isFile ? ['copy the new key to a safe offline place; name its file at the next start'] : []),
      ...(isLeaked ? ['find out how the key leaked, before the new one leaks in the same way'] : []),
      ...(paused ? ['souk admin platform unpause --yes'] : []),
      'souk admin backup: older backups do not know the new key',
    ],
  }
}

async function keyView(ctx: Context, key: OperatorKey) {
  const { address, role, state, since, leaked, swept, until } = key
  const { owes, escrow, isAwaited } = role === 'gas' ? noDues : await duesOf(ctx, address)
  const isOpen = until !== null && ctx.clock.wall() < until
  const next = nextOf(key, { isOpen, isAwaited, owes })
  return {
    ...{ address, role, state, since: since || null, leaked, swept, next },
    holds: await ctx.chain.balanceOf(address),
    owes: usdc(owes),
    escrow: usdc(escrow),
    next_at: isOpen ? until : null,
  }
}

type Facts = Pick<Dues, 'owes' | 'isAwaited'> & { readonly isOpen: boolean }

function nextOf({ role, state }: OperatorKey, { isOpen, isAwaited, owes }: Facts): string | null {
  if (state === 'next') return 'takes the place of the current key'
  if (state !== 'retiring') return null
  if (role === 'gas') return 'its transactions become final, and its ETH is moved; then it is retired'
  if (isOpen) return 'its quotes end; then the rest is moved'
  if (owes > 0n) return 'pays what it has signed'
  return isAwaited ? 'receives the money of its open payments and jobs' : 'the rest is moved; then it is retired'
}
