import { MINUTE_MS } from '../../../src/core/time.ts'
import { dueWork } from '../../crons/due-work.ts'
import type { Context } from '../../kernel/context.ts'
import type { WriteResult } from '../../ports/chain/registries.ts'
import { commit } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { type PublicationRow, type Publishing, publications } from './rows.ts'

/** First retry delay. It doubles after each attempt, up to the longest delay. */
const FIRST_RETRY_MS = MINUTE_MS
const MAX_DOUBLINGS = 10

type NewPublication = {
  readonly id: string
  readonly subjectId: string
  readonly call: Publishing
  readonly at: number
}

/** Queues a chain write, once per id. Call it in the store transaction that caused the write. */
export async function openPublication(t: Tx, { id, subjectId, call, at }: NewPublication): Promise<void> {
  await t.table(publications).insertIfAbsent({
    id,
    subject_id: subjectId,
    call,
    status: 'created',
    open: true,
    attempts: 0,
    last_error: null,
    next_attempt_at: at,
    transaction: null,
    created_at: at,
    updated_at: at,
  })
}

/** Sends queued chain writes. Each is stored first, and the chain accepts an id once, so none is duplicated. */
export const publishWork = dueWork({
  name: 'reputation.publish',
  collection: publications,
  index: 'due',
  dueAt: (row) => row.next_attempt_at,
  async run(ctx, id, now) {
    const sent = await change(ctx, id, (row) => ({ status: 'sent', attempts: row.attempts + 1, updated_at: now }))
    if (!sent) return
    const result = await write(ctx, sent)
    await change(ctx, id, (row) => ({ ...outcome(row, result, now), updated_at: now }))
  },
})

function change(
  ctx: Context,
  id: string,
  patch: (row: PublicationRow) => Partial<PublicationRow>,
): Promise<PublicationRow | undefined> {
  return commit(ctx, async (t) => {
    const row = await t.table(publications).getForUpdate(id)
    return row?.open ? t.table(publications).put({ ...row, ...patch(row) }) : undefined
  })
}

async function write(ctx: Context, { id, call }: PublicationRow): Promise<WriteResult> {
  try {
    return await (call.kind === 'anchor' ? anchor(ctx, id, call) : giveFeedback(ctx, id, call))
  } catch (error) {
    ctx.log.warn({ source: 'reputation', publication: id, err: String(error) }, 'the chain did not answer')
    return { ok: false, failure: 'unavailable' }
  }
}

function anchor({ chain }: Context, id: string, call: Extract<Publishing, { kind: 'anchor' }>): Promise<WriteResult> {
  const { subject, root, uri } = call
  return chain.verdictAnchors.anchor({ id, subject, root, uri })
}

function giveFeedback(
  { chain }: Context,
  id: string,
  call: Extract<Publishing, { kind: 'feedback' }>,
): Promise<WriteResult> {
  const { client, tag1, tag2, endpoint, uri, hash } = call
  return chain.reputationRegistry.giveFeedback({
    id,
    agentId: BigInt(call.agent_id),
    client,
    value: BigInt(call.value),
    valueDecimals: call.value_decimals,
    tag1,
    tag2,
    endpoint,
    uri,
    hash,
  })
}

function outcome({ attempts }: PublicationRow, result: WriteResult, now: number): Partial<PublicationRow> {
  if (result.ok) return { status: 'confirmed', open: false, transaction: result.transaction, last_error: null }
  const last_error = result.failure
  if (result.failure !== 'unavailable') return { status: 'failed', open: false, last_error }
  return { last_error, next_attempt_at: now + FIRST_RETRY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS) }
}
