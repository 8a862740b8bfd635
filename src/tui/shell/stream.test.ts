import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeClock, fakeLink, gone, settle, sse } from '../cockpit.testkit.tsx'
import { createQueries } from './query.ts'
import { createReader, createStream, eventOf } from './stream.ts'

// @slow streams that are lost and come back

function opened() {
  const [clock, link] = [fakeClock(0), fakeLink()]
  const seen: number[] = []
  const stream = createStream({ link, clock, onEvent: ({ cursor }) => seen.push(cursor) })
  const tell = async (text: string) => {
    link.tell(text)
    await settle()
  }
  const later = async (ms: number) => {
    clock.advance(ms)
    await settle()
  }
  return { link, stream, seen, tell, later }
}

describe('the event stream', () => {
  it('tells events, the newest first', async () => {
    const { stream, seen, tell } = opened()
    expect(stream.get().state).toBe('waiting')
    stream.start()
    await settle()
    expect(stream.get().state).toBe('live')
    await tell(sse(7, 'job.created') + sse(8, 'job.completed'))
    // The first event of all loads the checks of answers.
    await expect.poll(() => seen).toEqual([7, 8])
    expect(stream.get().events.map(({ type }) => type)).toEqual(['job.completed', 'job.created'])
  })

  it('keeps no more after 100,000 events than after 1,000, nor queries of rows that the cursor left', async () => {
    const { stream, seen, tell } = opened()
    const queries = createQueries(fakeClock(0))
    const made = new Map<string, unknown>()
    stream.start()
    await settle()
    for (let chunk = 0; chunk < 100; chunk += 1) {
      const cursors = Array.from({ length: 1_000 }, (_, i) => chunk * 1_000 + i + 1)
      await tell(cursors.map((cursor) => sse(cursor, 'job.created', { subject: `job_${cursor}` })).join(''))
      for (const cursor of cursors.slice(0, 100)) {
        const query = queries.open(`job ${cursor}`, async () => ({ ok: true, value: cursor }), 1_000)
        query.watch(() => undefined)()
        made.set(`job ${cursor}`, query)
      }
      await expect.poll(() => seen.at(-1)).toBe(cursors.at(-1))
    }
    expect(stream.get().events.map(({ cursor }) => cursor)).toEqual(seen.slice(-1_000).toReversed())
    const again = async () => ({ ok: true, value: undefined }) as const
    const kept = [...made].toReversed().filter(([name, query]) => queries.open(name, again, 1_000) === query)
    expect(kept).toHaveLength(64)
  })

  it('shows messages of the same two about the same as one row, with their number', async () => {
    const { stream, seen, tell } = opened()
    stream.start()
    await settle()
    const about = { service: 'Logo', buyer: 'Ann', provider: 'Ben', amount: null, method: null }
    const message = (cursor: number, service = 'Logo') =>
      sse(cursor, 'message.created', { subject: `msg_${cursor}`, about: { ...about, service } })
    await tell(message(1) + sse(2, 'job.created') + message(3) + message(4, 'Audit') + message(5))
    await expect.poll(() => seen).toEqual([1, 2, 3, 4, 5])
    expect(stream.get().events.map(({ cursor, times }) => [cursor, times])).toEqual([
      [5, 3],
      [4, undefined],
      [2, undefined],
    ])
  })

  it('goes on behind its last event when the connection breaks, sooner at first and then more slowly', async () => {
    const { link, stream, tell, later } = opened()
    stream.start()
    await settle()
    await tell(sse(7, 'job.created'))
    link.cut()
    await settle()
    expect(stream.get().state).toBe('waiting')
    link.broken = gone
    await later(249)
    expect(link.cursors).toEqual([undefined])
    await later(1)
    expect(link.cursors).toEqual([undefined, 7])
    await later(499)
    expect(link.cursors).toHaveLength(2)
    await later(1)
    expect(link.cursors).toHaveLength(3)
    for (let i = 0; i < 20; i += 1) await later(10_000)
    link.broken = undefined
    await later(10_000)
    expect(stream.get().state).toBe('live')
    await tell(sse(8, 'job.completed'))
    expect(stream.get().events.map(({ cursor }) => cursor)).toEqual([8, 7])
  })

  it('is opened anew when not even a heartbeat came for half a minute', async () => {
    const { link, stream, tell, later } = opened()
    stream.start()
    await settle()
    await later(29_000)
    await tell(': beat\n\n')
    await later(29_000)
    expect(link.cursors).toHaveLength(1)
    await later(1_000)
    await later(250)
    expect(link.cursors).toHaveLength(2)
  })

  it('says when it has no credential', async () => {
    const { link, stream } = opened()
    link.broken = { ...gone, kind: 'denied' }
    stream.start()
    await settle()
    expect(stream.get().state).toBe('denied')
  })

  it('forgets where it was when the instance is another one', async () => {
    const { link, stream, tell } = opened()
    stream.start()
    await settle()
    await tell(sse(700, 'job.created'))
    stream.reset()
    await settle()
    expect(link.cursors).toEqual([undefined, undefined])
    expect(stream.get().events).toEqual([])
  })

  it('is asked for no more once it was stopped', async () => {
    const { link, stream, later } = opened()
    stream.start()
    await settle()
    stream.stop()
    link.cut()
    await later(60_000)
    expect(link.cursors).toHaveLength(1)
  })
})

describe('its text', () => {
  it('means the same however it is cut', async () => {
    const text = `: beat\n\n${sse(1, 'a')}: beat\r\n\r\n${sse(2, 'b')}`
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length]
        const read = createReader()
        const messages = places.slice(1).flatMap((to, i) => read(text.slice(places[i], to)))
        expect((await Promise.all(messages.map(eventOf))).map((event) => event?.cursor)).toEqual([1, 2])
      }),
    )
  })

  it('is passed over where it is no event of ours', async () => {
    expect(await eventOf('not json')).toBeUndefined()
    expect(await eventOf('{"type":"x"}')).toBeUndefined()
    const [, data = ''] = /data: (.*)/.exec(sse(3, 'a\u001b[2J')) ?? []
    expect(await eventOf(data.replace('"data":{}', '"data":{"n":1,"deep":{}}'))).toMatchObject({
      cursor: 3,
      type: 'a\uFFFD[2J',
      detail: 'n 1',
    })
  })
})
