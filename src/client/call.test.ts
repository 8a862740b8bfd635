import { describe, expect, test } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import { answers } from './answers.ts'
import type { Callable } from './asked.ts'
import { readAnswer, wordsOf } from './call.ts'
import { BadAnswer } from './check.ts'

const isCallable = (name: string): name is Callable => name in answers
const known = Object.entries<{ readonly answer?: unknown }>(examples).flatMap(([name, { answer }]) =>
  isCallable(name) ? [[name, answer] as const] : [],
)

test.each(known)('%s is read as the daemon answers it', async (name, answer) => {
  expect(await readAnswer(name, answer)).toBe(answer)
})

/** What is wrong about an answer to `name`, told as `path must`. */
async function faultOf(name: Callable, body: unknown): Promise<string> {
  const error: unknown = await readAnswer(name, body).catch((found: unknown) => found)
  if (!(error instanceof BadAnswer)) throw error
  return `${error.path} ${error.must}`
}

const balance = examples.getBalance.answer
const job = examples.getJob.answer
const event = examples.readEvents.answer

describe('an answer of another version, or no souk at all', () => {
  test('may say more than this version knows, anywhere', async () => {
    const more = { ...job, news: [1], escrow: { ...job.escrow, ['__proto__']: {}, further: 'x' } }
    expect(await readAnswer('getJob', more)).toBe(more)
  })

  test('may say in a word of its own how something stands', async () => {
    const newer = { ...job, status: 'in_review', escrow: { ...job.escrow, status: 'half_released' } }
    expect(await readAnswer('getJob', newer)).toBe(newer)
  })

  test.each([
    ['getBalance', null, ' must be an object'],
    ['getBalance', [], ' must be an object'],
    ['getBalance', 'a page of a proxy', ' must be an object'],
    ['getBalance', { ...balance, available: undefined }, 'available must be text'],
    ['getBalance', { ...balance, available: 12 }, 'available must be text'],
    ['getBalance', { ...balance, available: '12 million' }, 'available must match'],
    ['getBalance', { ...balance, participant_id: '../x' }, 'participant_id must be an id like p_0123456789abcdef'],
    ['getBalance', { ...balance, participant_id: `${balance.participant_id}\n` }, 'participant_id must be an id like'],
    ['getJob', { ...job, status: 'Melted!\n✓ paid' }, 'status must be a word'],
    ['getJob', { ...job, status: 5 }, 'status must be a word'],
    ['getBalance', { ...balance, currency: 'EUR' }, 'currency must be one of'],
    ['getJob', { ...job, completed_at: 5 }, 'completed_at must be text'],
    ['getJob', { ...job, deliverables: {} }, 'deliverables must be a list'],
    ['getJob', { ...job, timeline: [{ at: job.created_at, event: 1, detail: '' }] }, 'timeline.0.event must be text'],
    ['readEvents', { ...event, events: [{}] }, 'events.0.'],
    ['listJobs', { jobs: [], total: 0.5, limit: 1, offset: 0 }, 'total must be a whole number'],
    ['listJobs', { jobs: [], limit: 1, offset: 0 }, 'total is missing'],
  ] as const)('%s of %j is one fault, with its place', async (name, body, fault) => {
    expect(await faultOf(name, body)).toContain(fault)
  })

  test('a member that only the prototype has is missing', async () => {
    expect(await faultOf('getBalance', Object.create(balance))).toBe('balance is missing')
  })

  test('a place that a hostile answer named is one short line', async () => {
    const features = { ...examples.getFeatures.answer, named_services: { [`a\n\u001b[31m${'x'.repeat(9_999)}`]: 1 } }
    const fault = await faultOf('getFeatures', features)
    expect(fault).not.toMatch(/\p{Cc}/u)
    expect(fault.length).toBeLessThan(300)
  })
})

describe('a call', () => {
  test('goes where the contract says, its parameters in their places', () => {
    expect(wordsOf('getJob', { params: { id: 'a/b?c' } })).toEqual({
      method: 'GET',
      path: '/v1/jobs/a%2Fb%3Fc',
      opens: 'key_or_paid',
    })
  })

  test('without a parameter is refused before anything is sent', () => {
    expect(() => wordsOf('getJob', { params: { id: '' } })).toThrow('id is empty')
  })
})
