import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCollections } from '../../daemon/app.ts'
import { liveHistory } from '../../daemon/history.ts'
import { createDaemon } from '../../daemon/index.ts'
import { firstEvents } from '../../fixtures/kit/event-stream.ts'
import { noPrograms } from '../../fixtures/market/marketplace.ts'
import { api } from '../../src/api/index.ts'
import { passedOn } from '../../src/client/call.ts'
import type { Link, Outcome } from '../../src/client/link.ts'
import type { Entropy } from '../../src/core/hex.ts'
import { HOUR_MS } from '../../src/core/time.ts'
import { joinCast } from '../../src/market/cast.ts'
import { operatorOf } from '../../src/market/hand.ts'
import { DEMO_MS, liveDemo } from '../../src/market/seed.ts'
import { traffic } from '../../src/market/traffic.ts'
import type { PastMarket } from '../../src/model/start.ts'
import { type FakeLink, fakeLink } from '../../src/tui/cockpit.testkit.tsx'

/*
 * The market of `seed demo`, with an hour of trade behind it, at an hour that never changes: what is drawn of it is
 * the same on every machine.
 */

/** When the pictures are taken. */
export const TAKEN_AT = Date.parse('2026-11-20T14:08:52.000Z')
const SALES_PER_MINUTE = 2
/** What happened before a cockpit is opened. */
const EVENTS_BACK = 50
const STARTED_AT = TAKEN_AT - 76 * HOUR_MS
const ENTROPY_SEED = 'pictures'
const HASH_BYTES = 32

/** Lives through it and has it looked at; nothing is left of it afterwards. */
export async function inMarketOfPictures(use: (link: FakeLink & Settling) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-pictures-'))
  try {
    const ports = { entropy: drawnEntropy(), engines: noPrograms }
    const create: typeof createDaemon = (config, given) => createDaemon(config, { ...given, ...ports })
    await liveHistory(
      { create, collections: allCollections },
      {
        dataDir: folder,
        name: 'pictures',
        from: TAKEN_AT - HOUR_MS - DEMO_MS,
        until: TAKEN_AT,
        act: async (past) => {
          await trade(past, folder)
          await use(await linkTo(past))
        },
      },
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function trade(past: PastMarket, folder: string): Promise<void> {
  const keys = await liveDemo(past, TAKEN_AT - HOUR_MS)
  const keyOf = (address: string) => [...keys.values()].find((one) => one.address === address)?.key
  const opened = await joinCast({ url: past.url, adminKey: past.adminKey, wall: past.now }, keyOf)
  const sleep = (ms: number) => past.goTo(Math.min(TAKEN_AT, past.now() + ms))
  const how = { perMinute: SALES_PER_MINUTE, now: past.now, sleep, signal: new AbortController().signal }
  for await (const { error } of traffic(opened, { ...how, until: TAKEN_AT, folder })) {
    if (error !== null) throw new Error(`somebody could not trade: ${error}`)
  }
}

/** Bytes that look drawn, the same ones each time. */
function drawnEntropy(): Entropy {
  let block = 0
  return (count) => {
    const blocks = Array.from({ length: Math.ceil(count / HASH_BYTES) }, () =>
      hash('sha256', `${ENTROPY_SEED} ${block++}`, 'buffer'),
    )
    return Buffer.concat(blocks).subarray(0, count)
  }
}

export type Settling = { /** Whether no answer is waited for. */ readonly isStill: () => boolean }

/** The way of a cockpit to it, by its real interface; the ports that it happened to get look like the usual ones. */
async function linkTo({ url, adminKey, now }: PastMarket): Promise<FakeLink & Settling> {
  const operator = operatorOf({ url, adminKey, wall: now })
  const news = await lastEvents(url, adminKey)
  // One after the other, and each thing once: how often it is looked at is counted, and would show in the next picture.
  const known = new Map<string, Promise<Outcome<unknown>>>()
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const outcome = async (work: () => Promise<unknown>): Promise<Outcome<unknown>> => {
    await last
    try {
      return { ok: true, value: usual(await work(), url) }
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error)
      return { ok: false, problem: { kind: 'failed', sentence, facts: [], next: [] } }
    } finally {
      waiting -= 1
    }
  }
  const call: Link['call'] = (name, asked) => {
    const words = JSON.stringify(passedOn(name, asked))
    const before = known.get(words)
    if (before === undefined) waiting += 1
    const answer = before ?? outcome(() => operator.call(name, asked))
    known.set(words, answer)
    last = answer
    return answer as ReturnType<typeof call<typeof name>> // kept by the very words that asked for it
  }
  return {
    ...fakeLink(),
    isStill: () => waiting === 0,
    call,
    whereabouts: async () => ({ ok: true, value: { url: USUAL_URL, admin: true, startedAt: STARTED_AT } }),
    events: async (_cursor, signal) => ({ ok: true, value: told(usual(news, url), signal) }),
  }
}

async function lastEvents(url: string, adminKey: string): Promise<string> {
  const { path } = api.streamEvents
  const headers = { authorization: `Bearer ${adminKey}`, accept: 'text/event-stream' }
  const { body } = await fetch(`${url}${path}?last=${EVENTS_BACK}`, { headers })
  if (body === null) throw new Error('the stream has no body')
  return `${await firstEvents(body, EVENTS_BACK - 1)}\n\n`
}

const USUAL_URL = 'http://127.0.0.1:4020'
const HOOK_HOST = '127.0.0.1:9000'
const ANY_LOCAL = /127\.0\.0\.1:\d+/g

function usual<T>(value: T, url: string): T {
  const text = JSON.stringify(value).replaceAll(url, USUAL_URL)
  return JSON.parse(text.replace(ANY_LOCAL, (found) => (USUAL_URL.endsWith(found) ? found : HOOK_HOST)))
}

async function* told(text: string, signal: AbortSignal): AsyncGenerator<string> {
  yield text
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
}
