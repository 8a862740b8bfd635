import { traceSignatureHeader, type tracesApi, traceTimestampHeader } from '../../../src/api/sections/trace.ts'
import { AppError } from '../../../src/core/error.ts'
import { checksumAddress, toWallet, type Wallet } from '../../../src/core/hex.ts'
import { keccak256 } from '../../../src/core/keccak.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { JsonObject } from '../../../src/model/service.ts'
import { TraceEvent } from '../../../src/model/trace.ts'
import type { Call, FreeHandlers } from '../../endpoint/handler.ts'
import { factTable, type Html, html, page } from '../../endpoint/html.ts'
import { signerOf } from '../../endpoint/signed-message.ts'
import { digestOf } from '../../kernel/canonical.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { type TraceRow, traces } from './rows.ts'

type Rule = { readonly path: string; readonly message: string; readonly isBroken: (event: TraceEvent) => boolean }

/** Consistency rules for a purchase attempt (decisions §11). */
const rules: readonly Rule[] = [
  {
    path: 'event.decision.intent_hash',
    message: 'is not the keccak-256 of the RFC 8785 form of event.intent',
    isBroken: ({ decision, intent }) =>
      decision !== null && decision.intent_hash.toLowerCase() !== digestOf(intent).hash,
  },
  {
    path: 'event.outcome',
    message: 'must be denied or abandoned after a decision that denies',
    isBroken: ({ decision, outcome }) =>
      decision?.verdict === 'deny' && outcome !== 'denied' && outcome !== 'abandoned',
  },
  {
    path: 'event.outcome',
    message: 'cannot be denied after a decision that allows',
    isBroken: ({ decision, outcome }) => decision?.verdict === 'allow' && outcome === 'denied',
  },
  {
    path: 'event.payment',
    message: 'required for allowed_paid, not allowed otherwise',
    isBroken: ({ outcome, payment }) => (outcome === 'allowed_paid') !== (payment !== undefined),
  },
  {
    path: 'event.payment.amount',
    message: 'differs from event.intent.amount',
    isBroken: ({ intent, payment }) => payment !== undefined && payment.amount !== intent.amount,
  },
  {
    path: 'event.payment.network',
    message: 'differs from event.intent.network',
    isBroken: ({ intent, payment }) => payment !== undefined && payment.network !== intent.network,
  },
  {
    path: 'event.payment.authorization_nonce',
    message: 'differs from event.intent.nonce',
    isBroken: ({ intent, payment }) =>
      payment?.authorization_nonce !== undefined &&
      payment.authorization_nonce.toLowerCase() !== intent.nonce.toLowerCase(),
  },
]

const sentences: Readonly<Record<TraceEvent['outcome'], string>> = {
  allowed_paid: 'The purchase was allowed and paid.',
  allowed_failed: 'The purchase was allowed, but failed.',
  denied: 'The purchase was denied.',
  abandoned: 'The purchase was abandoned.',
}

function tracePage(row: TraceRow): Html {
  const event = TraceEvent.parse(row.event)
  const { intent, decision, payment, result } = event
  return page({
    title: `Trace ${row.id}`,
    body: html`<h1>${sentences[event.outcome]}</h1>
<p>Trace ${row.id}, recorded ${new Date(row.at).toISOString()} by ${event.source}. This page opens once.</p>
${part('Attempt', { id: event.id, at: event.at, outcome: event.outcome, source: event.source })}
${part('Intent', intent)}
${decision === null ? html`<h2>Decision</h2><p>No policy was asked.</p>` : part('Decision', decision)}
${payment ? part('Payment', payment) : null}
${result ? part('Result', result) : null}`,
  })
}

function part(title: string, facts: Readonly<Record<string, string | number | undefined>>): Html {
  const named = Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), value])
  return html`<h2>${title}</h2>
${factTable(Object.fromEntries(named))}`
}

/** Maximum traces per signer (decisions §11). */
const MAX_TRACES = 1_000
/** Lifetime of a link in wall time. */
const LINK_LIFE_MS = HOUR_MS
const TOKEN_BYTES = 32

export const traceRoutes: FreeHandlers<typeof tracesApi> = {
  /** If the same event was recorded before, the response has the same trace id but no link. */
  recordTrace: async ({ body: { event } }, call) => {
    const { ctx, now, wall } = call
    const signer = senderOf(event, call)
    const faults = rules.filter(({ isBroken }) => isBroken(event)).map(({ path, message }) => ({ path, message }))
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
  },

  /** The token is read and used up in one transaction, so only one of two concurrent readers sees the trace. */
  openTrace: async (_input, { ctx, caller, wall }) => {
    const row = await commit(ctx, async (t) => {
      const found = (await t.table(traces).page('token', [hashSecret(caller.token)], { limit: 1 })).rows[0]
      const locked = found && (await t.table(traces).getForUpdate(found.id))
      if (!locked || locked.token_hash === null || locked.link_expires_at <= wall) return undefined
      await t.table(traces).put({ ...locked, token_hash: null })
      return locked
    })
    if (!row) throw new AppError('not_found', 'This link was already opened, has expired or is unknown.')
    return tracePage(row)
  },
}

/** Finds the owner of the trace: the holder of the API key, or else the intent's payer, who signed the raw body. */
function senderOf(event: TraceEvent, { ctx, caller, signed, wall }: Call<typeof tracesApi.recordTrace.access>): Wallet {
  if (caller) return caller.wallet
  const signature = signed.header(traceSignatureHeader)
  const timestamp = signed.header(traceTimestampHeader)
  if (signature === undefined || timestamp === undefined) {
    const headers = `${traceSignatureHeader} and ${traceTimestampHeader}`
    throw new AppError('unauthorized', `This endpoint needs an API key, or the payer's signature in ${headers}.`)
  }
  const payer = toWallet(event.intent.payer)
  const body = keccak256(signed.body())
  const lines = ['souk trace v1', `origin: ${ctx.baseUrl()}`, `payer: ${checksumAddress(payer)}`, `body: ${body}`]
  if (signerOf(ctx, { signature, timestamp, lines, wall }) !== payer) {
    throw new AppError('unauthorized', 'The signature does not match event.intent.payer and this body.')
  }
  return payer
}

/** @throws AppError 409 when the id was used for another event */
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
  throw new AppError(
    'conflict',
    `This wallet has reached the limit of ${MAX_TRACES} traces; each is deleted after 90 days.`,
  )
}

type NewTrace = { readonly event: TraceEvent; readonly signer: Wallet; readonly now: number; readonly wall: number }

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
