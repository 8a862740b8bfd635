import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { receive } from '../../src/client/download.ts'
import { createTransport, type Transport } from '../../src/client/transport.ts'
import { formOf } from '../../src/client/upload.ts'
import { type Child, launch } from './child.ts'

const MEBIBYTE = 1024 * 1024
const FILE_BYTES = 100 * MEBIBYTE
/** What a file may take of the daemon's memory while it passes through, however large it is. */
const MEMORY_BUDGET_BYTES = 64 * MEBIBYTE
const SAMPLE_MS = 20

test('100 MiB pass through a daemon in less memory than they are', async () => {
  const growthBytes = await passage(FILE_BYTES)
  expect(growthBytes).toBeGreaterThan(0)
  expect(growthBytes).toBeLessThan(MEMORY_BUDGET_BYTES)
})

/**
 * Sends a file of that size to a daemon of its own as a product, and reads it back.
 * @returns by how much its resident memory grew at most
 */
async function passage(sizeBytes: number): Promise<number> {
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

async function pass(daemon: Child, { large, small }: { large: string; small: string }): Promise<number> {
  const { url, sellerKey = '' } = daemon.ready
  const transport = createTransport({ baseUrl: url, headers: { 'x-api-key': sellerKey } })
  await down(transport, await up(transport, small)) // what the code itself takes
  const memory = watch(daemon, await daemon.memory())
  await down(transport, await up(transport, large))
  return memory.most()
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
      most = Math.max(most, (await daemon.memory()) - base)
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
