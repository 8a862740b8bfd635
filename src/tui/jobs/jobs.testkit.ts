import examples from '../../api/answer-examples.json' with { type: 'json' }
import { jobFields } from '../../api/endpoint/list-fields.ts'
import type { WireAnswer } from '../../api/index.ts'
import { readAnswer } from '../../client/call.ts'
import type { Outcome } from '../../client/link.ts'
import { type Facts, parseFilter, passesFilter } from '../../core/filter.ts'
import { amountOf } from '../../core/money.ts'
import { type LinkCall, NOW } from '../cockpit.testkit.tsx'

const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString()
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A job as lists have it. Its number makes it another one, each a minute older than the one before. */
type Job = WireAnswer<'listAllJobs'>['jobs'][number]
type Bundle = WireAnswer<'getJobBundle'>

export function job(number: number, status: Job['status'], more: Partial<Job> = {}): Job {
  const id = jobId(number)
  const isDisputed = status === 'disputed'
  const next = isDisputed ? 'remind' : 'expire'
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
      next_event: isHeld ? next : null,
      next_event_at: isHeld ? iso(-2 * HOUR_MS) : null,
    },
    payment: {
      method: 'x402',
      transaction: `0x${'5d'.repeat(32)}`,
      payer: '0x1f00000000000000000000000000000000000088',
    },
    receipt_id: 'rcp_0000000000000001',
    dispute: isDisputed ? dispute : null,
    created_at: iso(number * MINUTE_MS),
    completed_at: null,
    deadline_at: iso(-HOUR_MS),
    late: Date.parse(more.deadline_at ?? iso(-HOUR_MS)) < NOW,
    about: { service: 'Proofreading', buyer: 'Bot7', provider: 'Inkwell', amount: '0.525', method: 'x402' },
    ...more,
  }
}

const dispute: NonNullable<Job['dispute']> = {
  status: 'open',
  category: 'quality',
  reason: 'Half of it is missing',
  evidence: [],
  opened_at: iso(MINUTE_MS),
  resolution: null,
  buyer_amount: null,
  resolved_by: null,
  resolution_reason: null,
  resolved_at: null,
  decision: null,
}

const known = {
  thread: await readAnswer('getThread', examples.getThread.answer),
  message: await readAnswer('postThreadMessage', examples.postThreadMessage.answer),
}

export function jobId(number: number): string {
  return `job_${String(number).padStart(16, '0')}`
}

/** What a list of jobs answers: pages of what passes a filter. */
export function jobsOf(all: readonly Job[]) {
  return ({ query = {} }: LinkCall): Outcome<unknown> => {
    const { filter = '', limit = 20, offset = 0 } = query
    const parsed = parseFilter(String(filter), jobFields)
    if (!parsed.ok) throw new Error(parsed.problem)
    const found = all.filter((one) => passesFilter(parsed.filter, factsOf(one), NOW))
    const jobs = found.slice(Number(offset), Number(offset) + Number(limit))
    return {
      ok: true,
      value: {
        jobs,
        total: found.length,
        limit: Number(limit),
        offset: Number(offset),
      } satisfies WireAnswer<'listAllJobs'>,
    }
  }
}

function factsOf(one: Job): Facts<typeof jobFields> {
  return {
    id: one.id,
    status: one.status,
    service: one.service_name ?? null,
    buyer: one.buyer?.wallet ?? null,
    provider: one.provider_id ?? null,
    amount: amountOf(one.amount ?? '0.00'),
    age: Date.parse(one.created_at),
    late: one.late ?? false,
    open: one.escrow?.next_event !== null || ['created', 'dispatched', 'in_progress', 'disputed'].includes(one.status),
    paid_by: one.payment?.method ?? null,
  }
}

/** All about a job, as a ruling rests on it. */
export function bundle({ about: _, late: __, ...of }: Job, more: Partial<Job> = {}): Bundle {
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
    deliverable_hashes: [],
    files: [],
    payment: null,
    thread: {
      ...known.thread,
      messages: [
        {
          ...known.message,
          author_role: 'buyer',
          type: 'message',
          body: 'Where is \u001B[2J the rest?\u202E',
          created_at: iso(MINUTE_MS),
        },
      ],
    },
    postings: [
      {
        transaction_id: 'txn_0000000000000001',
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
