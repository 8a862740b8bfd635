import { dueWork } from '../../crons/due-work.ts'
import { commit } from '../../store/draw.ts'
import type { Draft, Tx } from '../../store/port.ts'
import { evidenceDocument, MAX_ENTRIES, subjectHash, totalOf } from './evidence.ts'
import { openPublication } from './publish.ts'
import { type Counted, countedJobs, documents, type EvidenceRow, evidence } from './rows.ts'
import { NO_JOBS } from './score.ts'

/** Id under which the feedback file of a job is published. */
export function feedbackId(jobId: string): string {
  return `feedback:${jobId}`
}

export function evidenceId(root: string): string {
  return `evidence:${root}`
}

/** Enters a counted job in its provider's evidence. Replaces the job's entry in an open document, else adds one. */
export async function enterEvidence(t: Tx, { job, facts, sums, known, at }: Counted): Promise<void> {
  const locked = (await t.table(evidence).getForUpdate(job.provider_id)) ?? fresh(job.provider_id)
  const state = { ...locked, due: true, due_at: locked.due ? locked.due_at : at }
  if (known && known.part >= locked.open_part) {
    await t.table(countedJobs).put({ ...known, facts, sums })
    await t.table(evidence).put(state)
    return
  }
  const isFull = locked.part_entries >= MAX_ENTRIES
  const place = { number: locked.entries + 1, part: locked.part + (isFull ? 1 : 0) }
  const { id, provider_id, service_id, service_type } = job
  const entry = { id, provider_id, service_id, service_type, facts, sums, ...place, replaces: known?.sums ?? null }
  await t.table(countedJobs).put(entry)
  await t
    .table(evidence)
    .put({ ...state, entries: place.number, part: place.part, part_entries: isFull ? 1 : locked.part_entries + 1 })
}

function fresh(id: string): Draft<EvidenceRow> {
  return {
    id,
    due: false,
    due_at: 0,
    entries: 0,
    part: 1,
    part_entries: 0,
    open_part: 1,
    before: NO_JOBS,
    previous: null,
    root: null,
    built: 0,
  }
}

/** Builds evidence documents for providers whose jobs newly count, and queues the documents' roots for the chain. */
export const evidenceWork = dueWork({
  name: 'reputation.evidence',
  collection: evidence,
  index: 'due',
  dueAt: (row) => row.due_at,
  run(ctx, id, now) {
    const baseUrl = ctx.baseUrl()
    return commit(ctx, async (t) => {
      const state = await t.table(evidence).getForUpdate(id)
      if (state?.due) await build(t, state, { baseUrl, at: now })
    })
  },
})

/** Builds a new document if entries were added. The earlier document is never changed and is still served. */
async function build(t: Tx, state: EvidenceRow, { baseUrl, at }: { baseUrl: string; at: number }): Promise<void> {
  const { id: subjectId, before, previous, open_part, part } = state
  const page = await t.table(countedJobs).page('entries', [subjectId, open_part], { limit: MAX_ENTRIES })
  const content = { subjectId, before, previous, entries: page.rows, issuedAt: at }
  const { text, hash: root } = evidenceDocument(content)
  await t.table(documents).insertIfAbsent({ id: evidenceId(root), kind: 'evidence', text, hash: root, at })
  const isFull = open_part < part
  await t.table(evidence).put({
    ...state,
    due: isFull,
    root,
    built: state.built + 1,
    ...(isFull ? { open_part: open_part + 1, before: totalOf(content), previous: root } : {}),
  })
  const uri = `${baseUrl}/v1/reputation/evidence/${root}.json`
  const call = { kind: 'anchor', subject: subjectHash(subjectId), root, uri } as const
  await openPublication(t, { id: `anchor:${root}`, subjectId, call, at })
}
