import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { receive } from '../../src/client/download.ts'
import { createTransport, type Transport } from '../../src/client/transport.ts'
import { formOf } from '../../src/client/upload.ts'
import { type Child, launch } from './child.ts'
import type { Measured } from './report.ts'

const ROUNDS = 3
const MEBIBYTE = 1024 * 1024
const FILE_BYTES = 100 * MEBIBYTE
/** What a file may take of the daemon's memory while it passes through, however large it is. */
export const MEMORY_BUDGET_BYTES = 64 * MEBIBYTE
const SAMPLE_MS = 20
const MILLISECONDS_A_SECOND = 1_000

export type Passage = {
  /** Resident memory of the daemon at most, above what it was before. */
  readonly growthBytes: number
  readonly uploadMs: number
  readonly downloadMs: number
}

/** A file of the largest size goes into a daemon and out again. */
export async function files(): Promise<readonly Measured[]> {
  const rounds: Passage[] = []
  while (rounds.length < ROUNDS) rounds.push(await passage(FILE_BYTES))
  const rate = (ms: number) => (FILE_BYTES / MEBIBYTE / ms) * MILLISECONDS_A_SECOND
  return [
    {
      name: 'memory that 100 MiB in and out again take at most',
      values: rounds.map(({ growthBytes }) => growthBytes / MEBIBYTE),
      unit: 'MiB',
      budget: { atMost: MEMORY_BUDGET_BYTES / MEBIBYTE },
    },
    {
      name: 'upload: form, hash, disk',
      values: rounds.map(({ uploadMs }) => rate(uploadMs)),
      unit: 'MiB/s',
      budget: { informs: true },
    },
    {
      name: 'download, checked by its hash',
      values: rounds.map(({ downloadMs }) => rate(downloadMs)),
      unit: 'MiB/s',
      budget: { informs: true },
    },
  ]
}

/** Sends a file of that size to a daemon of its own as a product, and reads it back. */
export async function passage(sizeBytes: number): Promise<Passage> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-bench-files-'))
  try {
    const paths = { large: join(folder, 'large.bin'), small: join(folder, 'small.bin') }
    await writeOf(paths.large, sizeBytes)
    await writeOf(paths.small, MEBIBYTE)
    const daemon = await launch('serve-daemon.ts', { wallets: [] })
    try {
      return await pass(daemon, paths)
    } finally {
      await daemon.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeOf(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, 'wx')
  const block = Buffer.alloc(MEBIBYTE)
  for (let written = 0; written < sizeBytes; written += block.length) {
    block.fill(`${written} `)
    await file.appendFile(block.subarray(0, sizeBytes - written))
  }
  await file.close()
}

async function pass(daemon: Child, { large, small }: { large: string; small: string }): Promise<Passage> {
  const { url, sellerKey = '' } = daemon.ready
  const transport = createTransport({ baseUrl: url, headers: { 'x-api-key': sellerKey } })
  await down(transport, await up(transport, small)) // what the code itself takes
  const memory = watch(daemon, (await daemon.memory()).now)
  const began = performance.now()
  const id = await up(transport, large)
  const uploaded = performance.now()
  await down(transport, id)
  const downloaded = performance.now()
  return { growthBytes: await memory.most(), uploadMs: uploaded - began, downloadMs: downloaded - uploaded }
}

async function up(transport: Transport, path: string): Promise<string> {
  const form = formOf({ name: 'A file', price: '1.00' }, { path })
  const sent = await transport({ method: 'POST', path: '/v1/products', headers: form.headers, body: form.body })
  const product = JSON.parse(await sent.text())
  if (product.file?.sha256 !== form.sha256()) throw new Error(JSON.stringify(product))
  return product.id
}

async function down(transport: Transport, id: string): Promise<void> {
  await receive(await transport({ method: 'GET', path: `/v1/products/${id}/download` }), () => undefined)
}

/** Samples what a process has in memory above a base, until it is asked for the most. */
function watch(daemon: Child, base: number): { most: () => Promise<number> } {
  let isOver = false
  let most = 0
  const sampling = (async () => {
    while (!isOver) {
      most = Math.max(most, (await daemon.memory()).now - base)
      await delay(SAMPLE_MS)
    }
  })()
  return {
    most: async () => {
      isOver = true
      await sampling
      return most
    },
  }
}
