import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { tableOf } from '../../../src/core/record.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { type AttentionKind, attentionKinds } from '../../../src/model/words.ts'
import { closeResources } from '../../kernel/context.ts'
import { installation } from '../../kernel/identity.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { attentionCollections, type ToldItem } from './alarm-rows.ts'
import type { sendAlarm } from './alarm-send.ts'
import { alarms, openAlarms } from './alarms.ts'

/* A target hears of each problem once, and once that it is over, whatever fails and whenever the daemon ends. */

const item = (id: string, kind: ToldItem['kind'], grave = false): ToldItem => ({
  id,
  kind,
  grave,
  sentence: id,
  fix: 'x',
})
const all = [
  ...[item('paused', 'platform', true), item('chain gas_low', 'chain'), item('chain silent', 'chain', true)],
  ...['a', 'b', 'c', 'd'].map((name) => item(`dispute ${name}`, 'dispute', true)),
  ...['e', 'f'].map((name) => item(`cron ${name}`, 'cron')),
]

type Turn = {
  readonly open: readonly ToldItem[]
  /** `lost`: the message arrives, but the daemon ends before it has written so. */
  readonly outcome: 'taken' | 'failed' | 'lost'
  readonly minutes: number
  readonly isRestarted: boolean
  /** Further disputes that are open, but not listed. */
  readonly unlisted: number
}
const quietTurn: Turn = { open: [], outcome: 'taken', minutes: 1, isRestarted: false, unlisted: 0 }
const anyTurn: fc.Arbitrary<Turn> = fc.record({
  open: fc.subarray(all),
  outcome: fc.constantFrom('taken', 'taken', 'failed', 'lost'),
  minutes: fc.integer({ min: 1, max: 400 }),
  isRestarted: fc.boolean(),
  unlisted: fc.constantFrom(0, 0, 3),
})

type Heard = { readonly event_id: string; readonly raised: Group[]; readonly over: Group[] }
type Group = { readonly items: readonly ToldItem[] }

async function play(turns: readonly Turn[]) {
  const store = openMemoryStore(attentionCollections)
  const heard: Heard[] = []
  let [wall, seed] = [Date.UTC(2026, 0, 15), 0]
  let turn = quietTurn
  const entropy = (count: number) => Buffer.alloc(count, String(++seed).padStart(count, '0'))
  const open = () => {
    const stopping = new AbortController()
    const ctx = {
      config: { notify: ['exec:x'], quietHours: '22:00-07:00' },
      ...{ store, entropy, clock: { now: () => wall, wall: () => wall }, baseUrl: () => 'http://souk.test' },
      ...{ stopping: stopping.signal, resources: { closing: [] }, log: { error: () => undefined } },
    } as never // as it needs
    installation.open(ctx, { instanceId: 'i', sealingSecret: 's' } as never)
    const send: typeof sendAlarm = async (_ctx, _target, { mail }) => {
      if (turn.outcome === 'failed') throw new Error('it is away')
      heard.push(JSON.parse(mail.body))
      if (turn.outcome === 'taken') return
      stopping.abort()
      throw new Error('the daemon ended')
    }
    const look = async () => {
      const numberOf = (kind: AttentionKind) => turn.open.filter((one) => one.kind === kind).length
      const counts = tableOf(attentionKinds, numberOf)
      return { items: turn.open, counts: { ...counts, dispute: counts.dispute + turn.unlisted } }
    }
    openAlarms(ctx, look, send)
    return ctx
  }
  let ctx = open()
  for (turn of turns) {
    wall += turn.minutes * MINUTE_MS
    await alarms.of(ctx).turn()
    if (!turn.isRestarted && turn.outcome !== 'lost') continue
    await closeResources(ctx)
    ctx = open()
  }
  const [last] = turns.slice(-1)
  // Long after the pauses, in the middle of the day, with a target that answers.
  for (turn of [...Array(3).keys()].map(() => ({ ...quietTurn, open: last?.open ?? [] }))) {
    wall = new Date(wall + 24 * HOUR_MS).setHours(12, 0, 0, 0)
    await alarms.of(ctx).turn()
  }
  await store.close()
  return { heard, open: turn.open }
}

const idsOf = (groups: readonly Group[]) => groups.flatMap(({ items }) => items.map(({ id }) => id))

test('each problem is raised once until it is over, and that it is over is told once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyTurn, { maxLength: 25 }), async (turns) => {
      const { heard, open } = await play(turns)
      const losses = turns.filter(({ outcome }) => outcome === 'lost').length
      const messages = [...new Map(heard.map((message) => [message.event_id, message])).values()]
      // Only a message whose arrival could not be written comes again, and then it is the same.
      expect(heard.length - messages.length).toBeLessThanOrEqual(losses)
      for (const message of heard) expect(messages).toContainEqual(message)
      const known = new Set<string>()
      for (const { raised, over } of messages) {
        for (const id of idsOf(over)) expect([id, known.delete(id)]).toEqual([id, true])
        for (const id of idsOf(raised)) {
          expect([id, known.has(id)]).toEqual([id, false])
          known.add(id)
        }
        expect(idsOf(raised).length + idsOf(over).length).toBeGreaterThan(0)
      }
      expect([...known].toSorted()).toEqual(open.map(({ id }) => id).toSorted())
    }),
    { numRuns: runs(400, 40) },
  )
})

test('in quiet hours only what stops sales is told; the rest waits for the morning', async () => {
  const at = (hours: number, open: readonly ToldItem[]) => ({ ...quietTurn, minutes: hours * 60, open })
  const local = new Date(Date.UTC(2026, 0, 15))
  const untilNight = 24 - local.getHours() + 23 // 23:00 of the next day
  const { heard } = await play([at(untilNight, all), at(1, all)])
  const loud = ['paused', 'chain silent']
  expect(idsOf(heard[0]?.raised ?? [])).toEqual(loud)
  expect(idsOf(heard[1]?.raised ?? []).toSorted()).toEqual(
    all
      .map(({ id }) => id)
      .filter((id) => !loud.includes(id))
      .toSorted(),
  )
})

test('a problem that makes room in the list for others of its kind is not over', async () => {
  const open = all.filter(({ id }) => id === 'dispute a')
  const noon = (36 - new Date(Date.UTC(2026, 0, 15)).getHours()) * 60
  const { heard } = await play([
    { ...quietTurn, open, minutes: noon },
    { ...quietTurn, unlisted: 3 },
    { ...quietTurn, open },
  ])
  expect(heard.map(({ raised, over }) => [idsOf(raised), idsOf(over)])).toEqual([[['dispute a'], []]])
})
