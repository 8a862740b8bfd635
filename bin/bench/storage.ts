import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { answerOf, GOING_ON } from './child.ts'
import { figure, type Measured, median, ratios } from './report.ts'
import type { Ask, Job, Rate } from './storage.worker.ts'

const SMALL_RECORDS = 100_000
const LARGE_RECORDS = 1_000_000
const ROUNDS = 6
const ROUND_MS = 600
const WARM_UP_MS = 1_000
const WRITERS = [1, 16, 64] as const
const APPEND_BYTES = 2_048
const MILLISECONDS_A_SECOND = 1_000
const CHILD_LIMIT_MS = 300_000
/** Bytes of a line that are frame: the checksum and a space. */
const FRAME_BYTES = 9

/** The storage section of the report (design, budgets). */
export async function storage(): Promise<readonly Measured[]> {
  const commits = await commitRates()
  const cost = await commitCost()
  const recovery = await recoveryTimes()
  const floors = { 1: 0.6, 16: 3, 64: 4 }
  const rates = WRITERS.map((writers): Measured => {
    const { raw, engine: perSecond } = commits[writers]
    return {
      name: `durable purchases/s at ${writers} writers / raw 2 KB append+fdatasync`,
      values: ratios(perSecond, raw),
      budget: { atLeast: floors[writers] },
      detail: `${figure(median(perSecond))} / ${figure(median(raw))} a second`,
    }
  })
  return [
    ...rates,
    {
      name: 'commit cost at 1 M records / at 100 k, each over the raw append beside it',
      values: ratios(cost.large, cost.small),
      budget: { atMost: 1.2 },
      detail: `${figure(median(cost.large))} / ${figure(median(cost.small))} raw appends a commit, one writer`,
    },
    {
      name: 'recovery of 100 k records with all indexes / JSON.parse of the same bytes',
      values: ratios(recovery.openMs, recovery.parseMs),
      budget: { atMost: 2 },
      detail: `${figure(median(recovery.openMs))} / ${figure(median(recovery.parseMs))} ms, a fresh process each`,
    },
  ]
}

/** Commits a second of a store of 100 k records, and raw appends with fdatasync just before each round. */
function commitRates() {
  return inTempDir(async (dir) => {
    const child = await start({ do: 'commit', dir: `${dir}/store`, records: SMALL_RECORDS })
    const raw = await rawAppends(`${dir}/raw`)
    const none = () => ({ raw: [] as number[], engine: [] as number[] })
    const figures = { 1: none(), 16: none(), 64: none() }
    await ask(child, { writers: 16, ms: WARM_UP_MS })
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const writers of WRITERS) {
        figures[writers].raw.push((await raw.rate(ROUND_MS)).perSecond)
        figures[writers].engine.push((await ask(child, { writers, ms: ROUND_MS })).perSecond)
      }
    }
    await raw.close()
    await stop(child)
    return figures
  })
}

/** Middle commit time at one writer over the middle raw append beside it, of two stores in turns. */
function commitCost() {
  return inTempDir(async (dir) => {
    const small = await start({ do: 'commit', dir: `${dir}/small`, records: SMALL_RECORDS })
    const large = await start({ do: 'commit', dir: `${dir}/large`, records: LARGE_RECORDS })
    const raw = await rawAppends(`${dir}/raw`)
    const figures = { small: [] as number[], large: [] as number[] }
    for (const child of [small, large]) await ask(child, { writers: 16, ms: WARM_UP_MS })
    const overRaw = async (child: ChildProcess): Promise<number> => {
      const bare = await raw.rate(ROUND_MS)
      return (await ask(child, { writers: 1, ms: ROUND_MS })).medianMs / bare.medianMs
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      figures.small.push(await overRaw(small))
      figures.large.push(await overRaw(large))
    }
    await raw.close()
    await stop(small)
    await stop(large)
    return figures
  })
}

/** Opening a store, all indexes built, against parsing the same rows as one array; a fresh process each time. */
function recoveryTimes() {
  return inTempDir(async (dir) => {
    await start({ do: 'fill', dir: `${dir}/store`, records: SMALL_RECORDS })
    await writeFile(`${dir}/rows.json`, await asOneArray(`${dir}/store`))
    const figures = { openMs: [] as number[], parseMs: [] as number[] }
    for (let round = 0; round < ROUNDS; round += 1) {
      figures.openMs.push(((await start({ do: 'open', dir: `${dir}/store` })).answer as { ms: number }).ms)
      figures.parseMs.push(((await start({ do: 'parse', file: `${dir}/rows.json` })).answer as { ms: number }).ms)
    }
    return figures
  })
}

/** The lines that recovery reads, without their frames, as one JSON array. */
async function asOneArray(dir: string): Promise<string> {
  const { snapshot, segments } = JSON.parse(await readFile(`${dir}/MANIFEST.json`, 'utf8')) as {
    snapshot: number
    segments: number[]
  }
  const current = new Set([
    `snapshot-${snapshot}.ndjson`,
    ...segments.filter((s) => s > snapshot).map((s) => `journal-${s}.ndjson`),
  ])
  const lines: string[] = []
  for (const name of (await readdir(dir)).filter((file) => current.has(file))) {
    const text = await readFile(`${dir}/${name}`, 'utf8')
    lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(FRAME_BYTES)),
    )
  }
  return `[${lines.join(',')}]`
}

/** The bare disk: 2 KB appended and synced, one after the other. */
async function rawAppends(path: string): Promise<{ rate(ms: number): Promise<Rate>; close(): Promise<void> }> {
  const file = await open(path, 'wx')
  const bytes = Buffer.alloc(APPEND_BYTES, 'x')
  let position = 0
  async function rate(ms: number): Promise<Rate> {
    const times: number[] = []
    const began = performance.now()
    while (performance.now() - began < ms) {
      const start = performance.now()
      await file.write(bytes, 0, APPEND_BYTES, position)
      await file.datasync()
      position += APPEND_BYTES
      times.push(performance.now() - start)
    }
    const seconds = (performance.now() - began) / MILLISECONDS_A_SECOND
    return { perSecond: times.length / seconds, medianMs: median(times) }
  }
  return { rate, close: () => file.close() }
}

export async function inTempDir<T>(body: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(`${tmpdir()}/souk-bench-`)
  try {
    return await body(dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

type Started = ChildProcess & { readonly answer: unknown }

/** Starts a measuring process and waits for its answer, as long as it goes on; it ends with this process. */
export async function start(job: Job): Promise<Started> {
  const child = fork(fileURLToPath(new URL('storage.worker.ts', import.meta.url)), [JSON.stringify(job)], {
    execArgv: ['--max-old-space-size=4096'],
  })
  let answer: unknown
  do answer = await answerOf(child, CHILD_LIMIT_MS)
  while (answer === GOING_ON)
  return Object.assign(child, { answer })
}

export async function ask(child: ChildProcess, question: Ask): Promise<Rate> {
  child.send(question)
  return (await answerOf(child, CHILD_LIMIT_MS)) as Rate // what the worker answers to a question
}

export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.send('stop')
  await ended
}
