import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addRemote, type Open, withCockpit } from '../bench/cockpit.ts'
import { type StubMarket, stubMarket } from '../bench/stub-market.ts'

/* An operator leaves the cockpit open all day: what it was told of must not stay in its memory. */

const MB = 1024 * 1024
/** What fills every list and cache once: the first heap is that of a cockpit at work. */
const WARM_UP_EVENTS = 20_000
const POURED = 50_000
const SETTLE_MS = 5_000
const LOOKS = 100
const LOOK_MS = 100
const MOST_GROWN = 1.2
/** Where it goes meanwhile, as people do. */
const SCREENS = '123456789'

export type CockpitResult = { readonly events: number; readonly firstMb: number; readonly lastMb: number }

/** @throws where the heap ends more than a fifth above its first */
export async function run(events: number): Promise<CockpitResult> {
  const home = await mkdtemp(join(tmpdir(), 'souk-soak-cockpit-'))
  const market = await stubMarket()
  try {
    await addRemote(home, market.url)
    const heap = join(home, 'heap')
    const env = { NODE_OPTIONS: `--import=${await heapTeller(home, heap)}` }
    const opening = { home, screen: 'overview', painter: 'own', env } as const
    const result = await withCockpit(opening, (open) => aDay(open, { market, heap, events }))
    if (result.lastMb > result.firstMb * MOST_GROWN)
      throw new Error(`after ${events} events the heap grew from ${result.firstMb} to ${result.lastMb} MB`)
    return result
  } finally {
    market.close()
    await rm(home, { recursive: true, force: true })
  }
}

/** A cockpit tells its heap when it is asked by a signal, after everything that is no longer needed is gone. */
async function heapTeller(home: string, heap: string): Promise<string> {
  const file = join(home, 'heap.mjs')
  const code = `
    import { writeFileSync } from 'node:fs'
    import { setFlagsFromString } from 'node:v8'
    import { runInNewContext } from 'node:vm'
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc')
    process.on('SIGUSR2', () => { gc(); writeFileSync(${JSON.stringify(heap)}, String(process.memoryUsage().heapUsed)) })
  `
  await writeFile(file, code)
  return file
}

type Day = { readonly market: StubMarket; readonly heap: string; readonly events: number }

async function aDay(open: Open, { market, heap, events }: Day): Promise<CockpitResult> {
  const walk = async (count: number) => {
    for (let poured = 0; poured < count; poured += POURED) {
      open.type(SCREENS[(poured / POURED) % SCREENS.length] ?? '1')
      await market.pour(Math.min(POURED, count - poured))
    }
    open.type('1')
    await sleep(SETTLE_MS)
    return heapMb(open, heap)
  }
  for (const screen of SCREENS) {
    open.type(screen)
    await sleep(SETTLE_MS / SCREENS.length)
  }
  const firstMb = await walk(WARM_UP_EVENTS)
  return { events, firstMb, lastMb: await walk(events) }
}

async function heapMb({ pid, forget }: Open, file: string): Promise<number> {
  forget()
  await rm(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (let looks = 0; !existsSync(file) && looks < LOOKS; looks += 1) await sleep(LOOK_MS)
  await sleep(LOOK_MS)
  return Math.round((Number(await readFile(file, 'utf8')) / MB) * 10) / 10
}
