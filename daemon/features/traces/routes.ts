import type { tracesApi } from '../../../src/api/sections/trace.ts'
import { traceSignatureHeader, traceTimestampHeader } from '../../../src/api/sections/trace.ts'
import { AppError } from '../../../src/core/error.ts'
import { checksumAddress, toWallet, type Wallet } from '../../../src/core/hex.ts'
import { keccak256 } from '../../../src/core/keccak.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { JsonObject } from '../../../src/model/service.ts'
import type { TraceEvent } from '../../../src/model/trace.ts'
import type { Call, FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { signerOf } from '../../endpoint/signed-message.ts'
import { digestOf } from '../../kernel/canonical.ts'
import { hashSecret } from '../../kernel/hash-secret.ts'
import { commit, type Draw } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { traceFaults } from './faults.ts'
import { tracePage } from './page.ts'
import { type TraceRow, traces } from './rows.ts'

/** Traces of one signer (decisions §11). */
const MAX_TRACES = 1_000
/** The life of a link, in wall time. */
const LINK_LIFE_MS = HOUR_MS
const TOKEN_BYTES = 32

type TraceCall = Call<typeof tracesApi.recordTrace.access>

/** An event that came before answers as it did, but its link is not shown again. */
const recordTrace: FreeHandler<typeof tracesApi.recordTrace> = async ({ body: { event } }, call) => {
  const { ctx, now, wall } = call
  const signer = senderOf(event, call)
  const faults = traceFaults(event)
  const first = faults[0]
  if (first) throw new AppError('invalid_request', `${first.path}: ${first.message}`, { details: faults })
  return commit(ctx, async (t, draw) => {
    const known = await recorded(t, signer, event)
    if (known) return { trace_id: known.id, link: null, link_expires_at: null }
    await refuseOverflow(t, signer)
    const { row, token } = await insertTrace(t, draw, { event, signer, now, wall })
    return {
      trace_id: row.id,
      link: `${ctx.baseUrl()}/dashboard/traces/${token}`,
      link_expires_at: row.link_expires_at,
    }
  })
}

/** Who owns the trace: the holder of the key, or the intent's payer, who signed the very bytes of the body. */
function senderOf(event: TraceEvent, { ctx, caller, signed, wall }: TraceCall): Wallet {
  if (caller) return caller.wallet
  const signature = signed.header(traceSignatureHeader)
  const timestamp = signed.header(traceTimestampHeader)
  if (signature === undefined || timestamp === undefined) {
    const headers = `${traceSignatureHeader} and ${traceTimestampHeader}`
    throw new AppError('unauthorized', `This row needs an API key, or the payer's signature in ${headers}.`)
  }
  const payer = toWallet(event.intent.payer)
  const body = keccak256(signed.body())
  const lines = ['souk trace v1', `origin: ${ctx.baseUrl()}`, `payer: ${checksumAddress(payer)}`, `body: ${body}`]
  if (signerOf(ctx, { signature, timestamp, lines, wall }) !== payer) {
    throw new AppError('unauthorized', 'The signature is not that of event.intent.payer over this body.')
  }
  return payer
}

/** @throws AppError 409 when the id was used for another event. */
async function recorded(t: ReadTx, signer: Wallet, event: TraceEvent): Promise<TraceRow | undefined> {
  const page = await t.table(traces).page('event', [signer, event.id], { limit: 1 })
  const known = page.rows[0]
  if (known && known.event_hash !== digestOf(event).hash) {
    throw new AppError('conflict', `event.id ${event.id} was recorded with other content.`)
  }
  return known
}

async function refuseOverflow(t: ReadTx, signer: Wallet): Promise<void> {
  if ((await t.table(traces).count('signer', [signer])) < MAX_TRACES) return
  throw new AppError('conflict', `${MAX_TRACES} traces of this wallet are kept, for 90 days each: there is no room.`)
}

type NewTrace = {
  readonly event: TraceEvent
  readonly signer: Wallet
  readonly now: number
  readonly wall: number
}

async function insertTrace(t: Tx, draw: Draw, { event, signer, now, wall }: NewTrace) {
  const token = draw.bytes(TOKEN_BYTES).toString('hex')
  const row = await t.table(traces).insert({
    id: draw.id('trace'),
    signer,
    event_id: event.id,
    event_hash: digestOf(event).hash,
    event: JsonObject.parse(event),
    token_hash: hashSecret(token),
    link_expires_at: wall + LINK_LIFE_MS,
    at: now,
  })
  return { row, token }
}

/** The token is used up by the transaction that reads the trace: of two that open it at once, one sees it. */
const openTrace: FreeHandler<typeof tracesApi.openTrace> = async (_input, { ctx, caller, wall }) => {
  const row = await commit(ctx, async (t) => {
    const found = (await t.table(traces).page('token', [hashSecret(caller.token)], { limit: 1 })).rows[0]
    const locked = found && (await t.table(traces).getForUpdate(found.id))
    if (!locked || locked.token_hash === null || locked.link_expires_at <= wall) return undefined
    await t.table(traces).put({ ...locked, token_hash: null })
    return locked
  })
  if (!row) throw new AppError('not_found', 'This link was opened before, has ended, or never was one.')
  return tracePage(row)
}

export const traceRoutes: FreeHandlers<typeof tracesApi> = { recordTrace, openTrace }
