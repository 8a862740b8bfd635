import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OUTSIDE } from '../../../../../fixtures/outside/load.ts'
import { openLog } from '../../../log.ts'
import { anvilProgram } from './anvil.testkit.ts'
import { type Devnet, openDevnet } from './devnet.ts'
import { findAnvil } from './find.ts'
import { ask } from './process.ts'

const CHAIN_ID = 8_453
let folder: string
let devnet: Devnet | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'souk-devnet-'))
})
afterEach(async () => {
  await devnet?.close()
  devnet = undefined
  rmSync(folder, { recursive: true, force: true })
})

async function open(): Promise<Devnet> {
  devnet = await openDevnet({ folder, program: anvilProgram(), chainId: CHAIN_ID, log: openLog({ level: 'error' }) })
  return devnet
}

const mine = (url: string) => ask(url, 'evm_mine')
const head = (url: string) => ask(url, 'eth_blockNumber')
const genesis = (url: string) => ask(url, 'eth_getBlockByNumber', '0x0', false)
const pid = () => Number(readFileSync(join(folder, 'chain.pid'), 'utf8'))
const isThere = (process_: number) => existsSync(`/proc/${process_}`)

describe('the program of a devnet', () => {
  it('is the one that is named, one on the path, or that of the package', () => {
    const program = join(folder, 'anvil')
    copyFileSync('/bin/sh', program)
    chmodSync(program, 0o755)
    expect(findAnvil({ given: program })).toBe(program)
    expect(findAnvil({ path: folder })).toBe(program)
    const binary = findAnvil({ path: '', from: OUTSIDE })
    expect(binary).toMatch(/node_modules.*bin.anvil/)
    // Its command is a script that would leave the chain behind where it is killed.
    const modules = join(folder, 'node_modules', '@foundry-rs')
    const command = join(modules, 'anvil', 'bin.mjs')
    mkdirSync(dirname(command), { recursive: true })
    writeFileSync(command, '#!/usr/bin/env node\n', { mode: 0o755 })
    const ofPlatform = dirname(dirname(binary))
    symlinkSync(ofPlatform, join(modules, basename(ofPlatform)))
    expect(findAnvil({ given: command })).toBe(binary)
  })

  it('that is missing is named with the ways to bring it', () => {
    const nowhere = { path: '', from: join(folder, 'none.js') }
    expect(() => findAnvil(nowhere)).toThrow(/npm install @foundry-rs\/anvil.*--anvil PATH/)
    expect(() => findAnvil({ given: join(folder, 'none') })).toThrow(/is not an executable program/)
  })
})

describe('a devnet', () => {
  it('is the same chain again after a stop, and gives no account away', async () => {
    const first = await open()
    expect(first.wasThere).toBe(false)
    expect(await ask(first.url, 'eth_accounts')).toEqual([])
    expect(await ask(first.url, 'eth_chainId')).toBe(`0x${CHAIN_ID.toString(16)}`)
    const before = await genesis(first.url)
    await mine(first.url)
    await first.close()
    const second = await open()
    expect(second.wasThere).toBe(true)
    expect(await genesis(second.url)).toEqual(before)
    expect(await head(second.url)).toBe('0x1')
  })

  it('that is killed comes back at the same address with what was kept', async () => {
    const { url, keep } = await open()
    await mine(url)
    await keep()
    const first = pid()
    process.kill(first, 'SIGKILL')
    await expect.poll(() => head(url).catch(() => undefined)).toBe('0x1')
    await expect.poll(pid).not.toBe(first)
  })

  it('does not go by a file that was cut short', async () => {
    const first = await open()
    await mine(first.url)
    await first.close()
    writeFileSync(join(folder, 'chain.last.json'), readFileSync(join(folder, 'chain.json'), 'utf8').slice(0, -100))
    expect(await head((await open()).url)).toBe('0x1')
    await devnet?.close()
    for (const name of ['chain.json', 'chain.last.json']) writeFileSync(join(folder, name), '{"best_block')
    await expect(open()).rejects.toThrow(/damaged.*souk reset/)
    devnet = undefined
  })

  it('writes itself out and ends when the daemon is killed; the next one waits for that', async () => {
    const here = fileURLToPath(new URL('.', import.meta.url))
    const program = join(folder, 'daemon.ts')
    writeFileSync(
      program,
      `import { openDevnet } from ${JSON.stringify(join(here, 'devnet.ts'))}
       const log = { warn() {}, error() {} }
       const { url } = await openDevnet({ folder: ${JSON.stringify(folder)}, program: ${JSON.stringify(anvilProgram())}, chainId: ${CHAIN_ID}, log })
       for (let i = 0; i < 5; i += 1) await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' },
         body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] }) })
       process.stdout.write('ready')`,
    )
    const daemon = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(daemon.stdout, 'data')
    const chain = pid()
    expect(isThere(chain)).toBe(true)
    daemon.kill('SIGKILL')
    await once(daemon, 'close')
    expect(await head((await open()).url)).toBe('0x5')
    expect(isThere(chain)).toBe(false)
  })
})
