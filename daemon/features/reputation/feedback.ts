import type { Wallet } from '../../../src/core/hex.ts'
import type { Tx } from '../../store/port.ts'
import { feedbackId } from './enter-evidence.ts'
import { feedbackFile, tagValues } from './feedback-file.ts'
import { openPublication } from './publish.ts'
import { type Counted, documents, identityLinks } from './rows.ts'

type Place = { readonly baseUrl: string; readonly chainId: number; readonly client: Wallet }

/**
 * Writes the feedback file of a job that now counts for reputation, and queues the file's tags for the chain. Does
 * nothing if the provider has no linked identity. The file never changes.
 */
export async function openFeedback(t: Tx, { job, sums, at }: Counted, place: Place): Promise<void> {
  const link = await t.table(identityLinks).get(job.provider_id)
  if (!link) return
  const { baseUrl, chainId, client } = place
  const { text, hash } = feedbackFile({
    agentRegistry: link.agent_registry,
    agentId: link.agent_id,
    chainId,
    client,
    serviceType: job.service_type,
    sums,
    createdAt: at,
  })
  const isNew = await t.table(documents).insertIfAbsent({ id: feedbackId(job.id), kind: 'feedback', text, hash, at })
  if (!isNew) return
  const uri = `${baseUrl}/v1/reputation/feedback/${job.id}.json`
  for (const { tag, value, decimals } of tagValues(sums)) {
    const said = { tag1: tag, tag2: job.service_type, value, value_decimals: decimals }
    const call = { kind: 'feedback', agent_id: link.agent_id, client, ...said, endpoint: '', uri, hash } as const
    await openPublication(t, { id: `feedback:${job.id}:${tag}`, subjectId: job.provider_id, call, at })
  }
}
