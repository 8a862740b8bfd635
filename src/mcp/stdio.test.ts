import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'

/* The built program as a real server on a pipe, as an agent's program starts it. */

const MB = 1024 * 1024

let home: string
let child: ChildProcessWithoutNullStreams
let lines: AsyncIterator<string>
beforeEach(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-mcp-'))
  child = spawn(process.execPath, [PROGRAM, 'mcp'], { env: { HOME: home, PATH: process.env.PATH ?? '' } })
  lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await ask(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
})
afterEach(async () => {
  child.kill('SIGKILL')
  await rm(home, { recursive: true, force: true })
})

const write = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const answer = async () => JSON.parse((await lines.next()).value)
async function ask(id: number, method: string, params: object = {}) {
  write({ id, method, params })
  return answer()
}

test('ends at the first SIGTERM, though its client holds stdin open', async () => {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([143, null])
})

test('a line of 13 MB is refused, one of 11 MB is read, and neither silences what follows', async () => {
  const padding = (megabytes: number) => ({
    method: 'ping',
    params: { _meta: { padding: 'x'.repeat(megabytes * MB) } },
  })
  write({ id: 2, ...padding(13) })
  expect(await answer()).toMatchObject({
    id: null,
    error: { code: -32_600, message: expect.stringContaining('longer') },
  })
  expect(await ask(3, 'ping')).toMatchObject({ id: 3, result: {} })
  write({ id: 4, ...padding(11) })
  expect(await answer()).toMatchObject({ id: 4 })
  expect(await ask(5, 'ping')).toMatchObject({ id: 5, result: {} })
})
