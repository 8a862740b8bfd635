import { describe, expect, test } from 'vitest'
import { type EventType, eventTypes, operatorEventTypes } from '../../model/event-types.ts'
import type { LiveEvent } from '../shell/stream.ts'
import { liveLines, sentenceOf } from './lines.ts'

const said = {
  reason: 'chain RPC is down',
  result: 'success',
  outcome: 'refund',
  decision: 'approved',
  verification_tier: 'new',
  suspended: 'true',
  from: '2026-11-21T14:00:00.000Z',
  to: '2026-11-21T16:00:00.000Z',
  state: 'running',
}
const nobody = { service: '', buyer: '', provider: '', amount: '', method: '' }
const types = Object.keys(eventTypes) as EventType[]
const BEGUN = Date.parse('2026-11-21T14:03:07.000Z')
const about = { service: 'Logo design', buyer: 'Quill', provider: 'Inkwell', amount: '$2.625', method: 'x402' }

const event = (type: string, more: Partial<LiveEvent> = {}): LiveEvent => ({
  cursor: 1,
  at: BEGUN,
  tx: 1,
  type,
  subject: 'job_1',
  detail: '',
  said: {},
  about,
  ...more,
})

describe('what happened, told to the operator', () => {
  test.each(types)('%s has a sentence that names somebody and is nobody’s letter', (type) => {
    const { words } = sentenceOf(event(type))
    expect(words).toMatch(/Quill|Inkwell/)
    // The words of its party speak to that party, and mean a subject that stands above them.
    expect(words).not.toMatch(/\byou\b|\byour\b|^Quill: |^It\b/i)
    expect(words.endsWith('.')).toBe(false)
  })

  test.each(operatorEventTypes)('%s has a sentence, with names and without', (type) => {
    for (const names of [about, nobody]) {
      const { words } = sentenceOf(event(type, { said, about: names }))
      expect(words).toMatch(/^(?:The operator|The chain reversed|The reversed payment) [a-z]/)
      expect(words).not.toMatch(/undefined|NaN| {2}|\bof for\b/)
      expect(words).not.toContain(type)
    }
  })

  test('an act tells its reason, and to when it set the clock', () => {
    const told = (type: string) => sentenceOf(event(type, { said, about: nobody })).words
    expect(told('platform.pause')).toBe('The operator paused payments: "chain RPC is down"')
    expect(told('clock.move')).toBe('The operator set the clock to 2026-11-21 16:00, running')
  })

  test('what has no names is told by the words of its party, and an act by its own name', () => {
    expect(sentenceOf(event('job.expired', { about: nobody })).words).toBe('The deadline of the job has passed.')
    expect(sentenceOf(event('made.up', { about: nobody, detail: 'by admin' })).words).toBe('made.up job_1  by admin')
  })
})

describe('the feed', () => {
  const rowsOf = (at: number, now: number | undefined) =>
    liveLines(
      { state: 'live', events: [event('job.released', { at })] },
      { width: 100, height: 2, held: false, now },
    ).map((line) => line.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join(''))

  test('gives the time of today and the day of before, in as many columns', () => {
    const [today, before] = [rowsOf(BEGUN, BEGUN + 60_000)[1], rowsOf(BEGUN - 86_400_000, BEGUN)[1]]
    expect(today).toMatch(/^ 14:03:07 ✓ /)
    expect(before).toMatch(/^ Nov 20 {3}✓ /)
  })

  test('gives times alone where business time is not known', () => {
    expect(rowsOf(BEGUN - 86_400_000, undefined)[1]).toMatch(/^ 14:03:07 ✓ /)
  })
})
