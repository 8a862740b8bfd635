import type { Context } from '../../kernel/context.ts'
import { readSdn, type SdnList } from '../../ports/sdn/list.ts'
import type { Tx } from '../../store/port.ts'
import { type HeldSdn, sdnFault } from './plausible.ts'
import { compliance, readSdnState, swapList, writeSdnState } from './sanctions.ts'

const MAX_REASON_CHARS = 300

type Run = Pick<Context, 'store' | 'config' | 'resources' | 'log'> & {
  /** Business time. */
  readonly now: number
  readonly signal: AbortSignal
}

/**
 * Reads the list anew and holds it, where all that it says of itself is true; the one that is held stays otherwise
 * (decisions §12). What came of it is kept with the list.
 * @throws Error saying why the list was not taken; an aborted run changes nothing.
 */
export async function refreshSdn(run: Run): Promise<void> {
  const { store, now, signal, log } = run
  const { list: sanctions, source } = compliance.of(run)
  const list = await readList(run)
  if (signal.aborted) throw new Error('it was ended')
  const fault = await store.tx(async (t) => {
    const why = typeof list === 'string' ? list : await take(t, { list, run })
    if (why !== undefined) await keep(t, now, why)
    return why
  })
  await sanctions.follow()
  const { source: _, ...state } = sanctions.state()
  log.info({ source: 'sdn', list: source.shown, ...state }, fault === undefined ? 'list held' : 'list refused')
  if (fault !== undefined) throw new Error(`the sanctions list was not taken: ${fault}`)
}

/** The list, or why there is none. */
async function readList(run: Run): Promise<SdnList | string> {
  try {
    return await readSdn(compliance.of(run).source.open(run.signal), run.signal)
  } catch (error) {
    return reasonOf(error)
  }
}

/** Codes of a file that cannot be read; its path is nobody else's business. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const told = error instanceof Error ? error.message : String(error)
  return (code?.startsWith('E') ? `the file cannot be read (${code})` : told).slice(0, MAX_REASON_CHARS)
}

type Taking = { readonly list: SdnList; readonly run: Run }

/** Swaps the lists, or says why not. */
async function take(t: Tx, { list, run }: Taking): Promise<string | undefined> {
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
  await writeSdnState(t, { ...(await readSdnState(t)), last_checked: now, last_status: `kept the list held: ${why}` })
}
