import { DAY_MS } from '../../core/time.ts'
import { attach, buy, type DemoOrder, hand, negotiate, report, say, verify } from '../acts.ts'
import { begin, type Scene, type Situation } from './scene.ts'

const ordered = ({ play }: Scene): Promise<DemoOrder> => buy(play, { who: 'acme', ware: 'audit' })

async function sold({ play, cast }: Scene): Promise<void> {
  const order = await buy(play, { who: 'acme', ware: 'audit' })
  await begin(play, order.job)
  await say(cast.acme, order.job, 'Please look at the shop too.')
  await hand(play, order)
  await verify(play, cast.acme, order.job)
}

async function failed(scene: Scene): Promise<void> {
  await report(scene.play, await ordered(scene), { status: 'failed', notes: 'The page is gone.' })
}

async function cancelled(scene: Scene): Promise<void> {
  const { job } = await ordered(scene)
  const { thread_id: thread } = await scene.cast.acme.call('getJob', { params: { id: job } })
  await scene.cast.acme.call('declineThread', { params: { id: thread ?? '' }, body: { reason: 'Ordered twice.' } })
}

/** @returns the job */
async function disputed(scene: Scene): Promise<string> {
  const { play, cast } = scene
  const order = await ordered(scene)
  await hand(play, order)
  const { thread_id: thread } = await cast.acme.call('getJob', { params: { id: order.job } })
  const evidence = [await attach(play, cast.acme, { thread: thread ?? '', name: 'evidence.svg' })]
  const body = { reason: 'Half of the pages are missing.', category: 'quality', evidence } as const
  await cast.acme.pay('disputeJob', { params: { id: order.job }, body })
  return order.job
}

async function refunded(scene: Scene): Promise<void> {
  const params = { id: await disputed(scene) }
  await scene.operator.call('resolveJob', { params, body: { outcome: 'refund', reason: 'The pages are missing.' } })
}

/** Delivered by a machine: paid out before the buyer says anything. */
async function paidOut({ play }: Scene): Promise<DemoOrder> {
  const order = await buy(play, { who: 'acme', ware: 'palette' })
  await hand(play, order)
  return order
}

async function rated(scene: Scene): Promise<void> {
  const { job } = await paidOut(scene)
  await scene.cast.acme.pay('verifyJob', { params: { id: job }, body: { rating: 4 } })
}

async function lateDispute(scene: Scene): Promise<void> {
  const { job } = await paidOut(scene)
  const body = { reason: 'Two of the colours are the same.', category: 'quality' } as const
  await scene.cast.acme.pay('disputeJob', { params: { id: job }, body })
}

async function declined(scene: Scene): Promise<void> {
  const { cast, shelf } = scene
  const { thread_id: id } = await cast.quill.pay('inquire', { params: { id: shelf.logo }, body: { brief: 'A mark.' } })
  await cast.quill.call('declineThread', { params: { id }, body: { reason: 'Another time.' } })
}

async function talked({ cast, shelf }: Scene): Promise<void> {
  const { thread_id: id } = await cast.quill.pay('inquire', { params: { id: shelf.logo }, body: { brief: 'A mark.' } })
  await cast.pixelforge.call('proposePrice', { params: { id }, body: { price: '5.00', message: 'One draft.' } })
  await cast.quill.pay('acceptPrice', { params: { id }, body: {} })
}

const make = (act: (scene: Scene) => Promise<unknown>): Situation => ({
  make: async (scene) => void (await act(scene)),
})
const later = (moves: number, act: (scene: Scene) => Promise<unknown>): Situation => ({
  moves,
  async make(scene) {
    await act(scene)
    await scene.advance(moves)
  },
})

export const workSituations = {
  'job.created': { why: 'a job is dispatched in the moment in which it is paid for, and job.dispatched tells of both' },
  'job.dispatched': make(ordered),
  'job.in_progress': make(sold),
  'job.completed': make(sold),
  'job.verified': make(sold),
  'job.released': make(sold),
  'job.failed': make(failed),
  'job.cancelled': make(cancelled),
  'job.expired': later(2 * DAY_MS, ordered),
  'job.disputed': make(disputed),
  'job.refunded': make(refunded),
  'job.rated': make(rated),
  'job.dispute_recorded': make(lateDispute),
  'job.dispute_undecided': later(4 * DAY_MS, disputed),
  'job.unpaid': { why: 'a payment has to fail on the chain after it was checked, and that of the sandbox fails none' },
  'message.created': make(sold),
  'thread.inquiry': make((scene) => negotiate(scene.play, 'quill', 'asked')),
  'thread.proposal': make(talked),
  'thread.accepted': make(talked),
  'thread.cancelled': make(declined),
} as const satisfies Readonly<Record<string, Situation>>
