import { errnoOf } from '../../../src/core/error.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron } from '../../crons/cron.ts'
import { dailyAt } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { readSdn, type SdnList } from '../../ports/sdn/list.ts'
import type { Tx } from '../../store/port.ts'
import { compliance, readSdnState, swapList, writeSdnState } from './sanctions.ts'

/** Facts of a new list that `sdnFault` checks. */
type SdnFacts = {
  readonly publishDate: string | null
  readonly recordCount: number | null
  readonly entries: number
  /** Number of EVM addresses in the list. */
  readonly addresses: number
}

/** The current list, if it is from the same source as the new list. */
type HeldSdn = { readonly publishDate: string; readonly addresses: number }

/** A new list with less than this share of the current list's addresses needs the operator's consent. */
const LEAST_OF_HELD_PCT = 50
const WHOLE_PCT = 100

/** Why a new list must not replace the current one; undefined if it may. */
export function sdnFault(
  list: SdnFacts,
  held: HeldSdn | undefined,
  options: { readonly acceptShrink?: boolean } = {},
): string | undefined {
  const { publishDate, recordCount, entries, addresses } = list
  if (publishDate === null) return 'it has no publish date'
  if (recordCount === null) return 'it has no entry count'
  if (recordCount !== entries) return `it declares ${recordCount} entries, but has ${entries}`
  if (addresses === 0) return 'it has no EVM address'
  if (!held) return undefined
  if (publishDate < held.publishDate)
    return `it is from ${publishDate}, older than the current list of ${held.publishDate}`
  const isShrunk = addresses * WHOLE_PCT < held.addresses * LEAST_OF_HELD_PCT
  if (!isShrunk || options.acceptShrink) return undefined
  return `it has ${addresses} EVM addresses, less than half of the current ${held.addresses}`
}

const MAX_REASON_CHARS = 300

type Run = Pick<Context, 'store' | 'config' | 'resources' | 'log'> & {
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Reads a list and installs it if it is valid. Otherwise keeps the current one and records why (decisions §12).
 * @throws Error with the reason; an aborted run changes nothing
 */
export async function refreshSdn(run: Run): Promise<void> {
  const { store, now, signal, log } = run
  const { list: sanctions, source } = compliance.of(run)
  const list = await readList(run)
  if (signal.aborted) throw new Error('it was cancelled')
  const fault = await store.tx(async (t) => {
    const why = typeof list === 'string' ? list : await take(t, { list, run })
    if (why !== undefined) await keep(t, now, why)
    return why
  })
  await sanctions.follow()
  const { source: _, ...state } = sanctions.state()
  log.info({ source: 'sdn', list: source.shown, ...state }, fault === undefined ? 'list held' : 'list refused')
  if (fault !== undefined) throw new Error(`the sanctions list was rejected: ${fault}`)
}

/** Reads the list; returns the reason if it cannot be read. */
async function readList(run: Run): Promise<SdnList | string> {
  try {
    return await readSdn(compliance.of(run).source.open(run.signal), run.signal)
  } catch (error) {
    return reasonOf(error)
  }
}

/** Reason for an error, without the file's path, which stays private. */
function reasonOf(error: unknown): string {
  const code = errnoOf(error)
  const told = error instanceof Error ? error.message : String(error)
  return (code?.startsWith('E') ? `the file cannot be read (${code})` : told).slice(0, MAX_REASON_CHARS)
}

/** Replaces the current list. @returns why it was not replaced; undefined if it was */
async function take(t: Tx, { list, run }: { readonly list: SdnList; readonly run: Run }): Promise<string | undefined> {
  const { config, now } = run
  const { source } = compliance.of(run)
  const { wallets, publishDate } = list
  const state = await readSdnState(t)
  const isSameSource = state.source === source.id && state.publish_date !== null
  const held: HeldSdn | undefined = isSameSource
    ? { publishDate: state.publish_date ?? '', addresses: state.addresses }
    : undefined
  const acceptShrink = config.sdnAcceptShrink === true
  const fault = sdnFault({ ...list, addresses: wallets.size }, held, { acceptShrink })
  if (fault !== undefined) return fault
  const { added, removed } = await swapList(t, { wallets, at: now })
  const isChanged = added > 0 || removed > 0 || state.publish_date !== publishDate || !isSameSource
  await writeSdnState(t, {
    source: source.id,
    publish_date: publishDate,
    addresses: wallets.size,
    added,
    last_updated: isChanged ? now : state.last_updated,
    last_checked: now,
    last_status: 'ok',
  })
  return undefined
}

async function keep(t: Tx, now: number, why: string): Promise<void> {
  await writeSdnState(t, {
    ...(await readSdnState(t)),
    last_checked: now,
    last_status: `kept the current list: ${why}`,
  })
}

const REFRESH_HOUR = 3

/** Replaces the sanctions list. If that fails, keeps the current list and records why (decisions §12). */
export const ofacSdnRefresh = defineCron({
  name: 'ofac-sdn-refresh',
  schedule: dailyAt(REFRESH_HOUR),
  deadlineMs: 15 * MINUTE_MS,
  inHealth: true,
  async run({ ctx, now, signal }) {
    await refreshSdn({ ...ctx, now, signal })
    return undefined
  },
})
