import { isJsonObject, type Json, parseJson } from '../../core/json.ts'
import { DAY_MS } from '../../core/time.ts'
import { attach, delivered, type Play } from '../acts.ts'
import { sellerOf, type Ware } from '../cast.ts'
import type { Person } from '../hand.ts'
import { type Makeable, made, ofCast, type Scene, type Situation } from './scene.ts'
import type { SettingName } from './settings.ts'

/** A job. `buyer` and `seller` throw CliError if this machine does not have that user's key. */
type Deal = {
  readonly job: string
  readonly thread: () => Promise<string>
  readonly buyer: () => Person
  readonly seller: () => Person
  readonly deliverables: Readonly<Record<string, string>>
}

type Step = (scene: Scene, deal: Deal) => Promise<unknown>

/** The job of a situation: the given job, or a purchase of the given listing or of a demo listing. */
async function dealOf(scene: Scene, ware: Ware): Promise<Deal> {
  const { on, cast, shelf, play } = scene
  if (on?.startsWith('job_')) return dealAt(scene, on)
  const { acme } = cast
  const service = on ?? shelf[ware]
  const { provider_id: provider } = await acme.call('getService', { params: { id: service } })
  const body = await orderOf(scene, service)
  const { job_id: job, thread_id: thread } = await acme.pay('purchaseService', { params: { id: service }, body })
  return {
    job,
    thread: async () => thread,
    buyer: () => acme,
    seller: () => (on === undefined ? play.cast[sellerOf(ware)] : ofCast(scene, provider, `sells ${on}`)),
    deliverables: on === undefined ? delivered[ware] : { text: 'Here it is.' },
  }
}

/** The input of an order: an example made from the schema. Members that were given replace those of the example. */
async function orderOf({ cast, told }: Scene, id: string): Promise<{ [member: string]: Json }> {
  const { input_schema: schema } = await cast.acme.call('getService', { params: { id } })
  const { exampleInput } = await import('../../schema/example.ts')
  const example = schema == null ? {} : parseJson(JSON.stringify(exampleInput(schema) ?? {}))
  return { ...(isJsonObject(example) ? example : {}), ...told.input }
}

async function dealAt(scene: Scene, job: string): Promise<Deal> {
  const { thread } = await scene.operator.call('getJobBundle', { params: { id: job } })
  return {
    job,
    thread: async () => thread.thread_id,
    buyer: () => ofCast(scene, thread.agent_id ?? 'somebody without an account', `bought ${job}`),
    seller: () => ofCast(scene, thread.provider_id, `does ${job}`),
    deliverables: { text: 'Here it is.' },
  }
}

const begin: Step = (_scene, { job, seller }) =>
  seller().call('updateJob', { params: { id: job }, body: { status: 'in_progress' } })

const say: Step = ({ told }, { job, buyer }) =>
  buyer().call('postJobMessage', {
    params: { id: job },
    body: { message: told.text ?? 'Please look at the shop too.' },
  })

const hand: Step = (_scene, { job, seller, deliverables }) =>
  seller().call('updateJob', { params: { id: job }, body: { status: 'completed', deliverables: { ...deliverables } } })

const judge: Step = ({ told }, { job, buyer }) => {
  const body = { rating: told.rating ?? 4, comment: told.comment ?? 'Quick and clean.' }
  return buyer().pay('verifyJob', { params: { id: job }, body })
}

const fail: Step = ({ told }, { job, seller }) =>
  seller().call('updateJob', {
    params: { id: job },
    body: { status: 'failed', notes: told.reason ?? 'The page is gone.' },
  })

const cancel: Step = async ({ told }, { thread, buyer }) =>
  buyer().call('declineThread', { params: { id: await thread() }, body: { reason: told.reason ?? 'Ordered twice.' } })

const complain =
  (otherwise: string, withEvidence: boolean): Step =>
  async ({ play, told }, { job, thread, buyer }) => {
    const evidence = withEvidence ? [await evidenceOf(play, buyer(), await thread())] : []
    const reason = { reason: told.reason ?? otherwise, category: told.category ?? 'quality' }
    await buyer().pay('disputeJob', { params: { id: job }, body: { ...reason, ...(withEvidence ? { evidence } : {}) } })
  }

const evidenceOf = (play: Play, buyer: Person, thread: string) => attach(play, buyer, { thread, name: 'evidence.svg' })

const dispute = complain('Half of the pages are missing.', true)
const disputeLate = complain('Two of the colours are the same.', false)

const refund: Step = ({ operator, told }, { job }) => {
  const body = { outcome: 'refund', reason: told.reason ?? 'The pages are missing.' } as const
  return operator.call('resolveJob', { params: { id: job }, body })
}

async function declined({ cast, shelf, told }: Scene): Promise<void> {
  const brief = told.text ?? 'A mark.'
  const { thread_id: id } = await cast.quill.pay('inquire', { params: { id: shelf.logo }, body: { brief } })
  await cast.quill.call('declineThread', { params: { id }, body: { reason: told.reason ?? 'Another time.' } })
}

async function asked({ cast, shelf, told, on }: Scene): Promise<void> {
  const brief = { text: told.text ?? 'A mark for a small harbour workshop: rope, tools, no anchors.' }
  await cast.quill.pay('inquire', { params: { id: on ?? shelf.logo }, body: { brief } })
}

async function talked({ cast, shelf, told }: Scene): Promise<void> {
  const { thread_id: id } = await cast.quill.pay('inquire', { params: { id: shelf.logo }, body: { brief: 'A mark.' } })
  const offer = { price: told.price ?? '5.00', message: told.text ?? 'One draft.' }
  await cast.pixelforge.call('proposePrice', { params: { id }, body: offer })
  await cast.quill.pay('acceptPrice', { params: { id }, body: {} })
}

type Story = {
  readonly ware?: Ware
  /** Steps before the last one. They are taken only if the job is new. */
  readonly before?: readonly Step[]
  readonly sets?: readonly SettingName[]
  readonly moves?: number
}

/** Takes a new job through the steps `before` and `last`; an existing job takes only `last`. */
export function story(last: Step | undefined, { ware = 'audit', before = [], sets = [], moves }: Story = {}): Makeable {
  const act = async (scene: Scene) => {
    const deal = await dealOf(scene, ware)
    const steps = scene.on === deal.job ? [] : before
    for (const step of steps) await step(scene, deal)
    await last?.(scene, deal)
    if (moves !== undefined) await scene.advance(moves)
  }
  const about = last === undefined && moves === undefined ? (['service'] as const) : (['service', 'job'] as const)
  return made(act, { about, sets: ['input', ...sets], ...(moves === undefined ? {} : { moves }) })
}

const judged = { before: [begin, hand], sets: ['rating', 'comment'] } as const

export const workSituations = {
  'job.created': { why: 'a job is dispatched as soon as it is paid; job.dispatched covers both' },
  'job.dispatched': story(undefined),
  'job.in_progress': story(begin),
  'job.completed': story(hand, { before: [begin, say] }),
  'job.verified': story(judge, judged),
  'job.released': story(judge, judged),
  'job.failed': story(fail, { sets: ['reason'] }),
  'job.cancelled': story(cancel, { sets: ['reason'] }),
  'job.expired': story(undefined, { moves: 2 * DAY_MS }),
  'job.disputed': story(dispute, { before: [hand], sets: ['reason', 'category'] }),
  'job.refunded': story(refund, { before: [hand, dispute], sets: ['reason', 'category'] }),
  // `palette` is an automated service, whose deliveries are paid out before they are rated.
  'job.rated': story(judge, { ware: 'palette', before: [hand], sets: ['rating', 'comment'] }),
  'job.dispute_recorded': story(disputeLate, { ware: 'palette', before: [hand], sets: ['reason', 'category'] }),
  'job.dispute_undecided': story(dispute, { before: [hand], sets: ['reason', 'category'], moves: 4 * DAY_MS }),
  'job.unpaid': { why: 'it needs a payment that fails on the chain, which the sandbox cannot do' },
  'message.created': story(say, { before: [begin], sets: ['text'] }),
  'thread.inquiry': made(asked, { about: ['service'], sets: ['text'] }),
  'thread.proposal': made(talked, { sets: ['price', 'text'] }),
  'thread.accepted': made(talked, { sets: ['price', 'text'] }),
  'thread.cancelled': made(declined, { sets: ['text', 'reason'] }),
} as const satisfies Readonly<Record<string, Situation>>
