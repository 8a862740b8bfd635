import type { LinkCall, Outcome } from '../../client/link.ts'
import { NOW } from '../cockpit.testkit.tsx'

const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString()
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A job as lists have it. Its number makes it another one, each a minute older than the one before. */
export function job(number: number, status: string, more: object = {}) {
  const id = jobId(number)
  const isHeld = ['dispatched', 'in_progress', 'disputed'].includes(status)
  return {
    id,
    job_id: id,
    service_id: 'svc_0000000000000001',
    service_name: 'Proofreading',
    buyer: { participant_id: 'p_0000000000000acc', wallet: '0x1f00000000000000000000000000000000000088' },
    provider_id: 'p_4b7000000000beef',
    status,
    amount: '0.525',
    fee: '0.025',
    provider_amount: '0.50',
    escrow: {
      status: isHeld ? 'held' : 'none',
      held_at: iso(HOUR_MS),
      next_event: isHeld ? 'expire' : null,
      next_event_at: isHeld ? iso(-2 * HOUR_MS) : null,
    },
    payment: { method: 'x402', transaction: `0x${'5d'.repeat(32)}`, payer: '0x1f' },
    receipt_id: 'rcp_0000000000000001',
    dispute: status === 'disputed' ? dispute : null,
    created_at: iso(number * MINUTE_MS),
    deadline_at: iso(-HOUR_MS),
    ...more,
  }
}

const dispute = { status: 'open', category: 'quality', reason: 'Half of it is missing', resolution: null }

export function jobId(number: number): string {
  return `job_${String(number).padStart(16, '0')}`
}

type Listed = ReturnType<typeof job>

/** What a list of jobs answers: pages of so many of one status, or of all. */
export function jobsOf(all: readonly Listed[]) {
  return ({ query = {} }: LinkCall): Outcome<unknown> => {
    const { status, limit = 20, offset = 0 } = query
    const found = all.filter((one) => status === undefined || one.status === status)
    const jobs = found.slice(Number(offset), Number(offset) + Number(limit))
    return { ok: true, value: { jobs, total: found.length, limit, offset } }
  }
}

/** All about a job, as a ruling rests on it. */
export function bundle(of: Listed, more: object = {}) {
  return {
    generated_at: iso(0),
    job: {
      ...of,
      input: { text: 'all of it' },
      deliverables: [{ text: 'half' }],
      notes: '',
      timeline: [
        { at: iso(3 * MINUTE_MS), event: 'paid', detail: '0.525 USDC by x402' },
        { at: iso(MINUTE_MS), event: 'disputed', detail: 'Half of it is missing' },
      ],
      ...more,
    },
    schema_report: {
      input: { ok: true, details: [] },
      deliverables: { ok: false, details: [{ path: '/text', message: 'is short' }] },
    },
    thread: {
      messages: [
        {
          author_role: 'buyer',
          type: 'message',
          body: 'Where is \u001B[2J the rest?\u202E',
          created_at: iso(MINUTE_MS),
        },
      ],
    },
    postings: [
      {
        kind: 'escrow_hold',
        at: iso(3 * MINUTE_MS),
        lines: [
          { account: 'ext', amount: '-0.525' },
          { account: 'esc', amount: '0.525' },
        ],
      },
    ],
  }
}
