import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withoutWaiting } from '../fixtures/kit/command-line.testkit.ts'
import { configDefaults } from '../fixtures/kit/config.ts'
import manifest from '../package.json' with { type: 'json' }
import { type Bundle, bundle, copyBeside, libraryEntries } from './build.ts'
import type { CommandFile } from './command-files.ts'
import { lightFront } from './light-imports.ts'

/*
 * The bundle as it ships: light for commands, whole for the daemon, and able to start on an older Node.
 * @slow it builds the program and starts it from elsewhere
 */

const cache = join(import.meta.dirname, '..', 'node_modules', '.cache')
/** What a short command may load, the entry aside: it was 714 kB when all commands were one file. */
const SHORT_COMMAND_BYTES_MAX = 227_700

let folder: string
let dist: string
let home: string
let built: Bundle

beforeAll(async () => {
  mkdirSync(cache, { recursive: true })
  // Below the project: the entry looks for the packaged Node in the node_modules above it.
  folder = await mkdtemp(join(cache, 'souk-bundle-'))
  dist = join(folder, 'dist')
  // Seeds are read from beside the bundle.
  symlinkSync(join(import.meta.dirname, '..', 'fixtures'), join(folder, 'fixtures'))
  home = await mkdtemp(join(tmpdir(), 'souk-bundle-'))
  built = await bundle(dist)
})

afterAll(async () => {
  await run(['down'])
  await rm(folder, { recursive: true })
  await rm(home, { recursive: true })
})

/** Files that the command of a source loads before it runs: those of a start, and its own. */
function loadedWith(source: string): readonly CommandFile[] {
  const queue = built.commands.filter(({ file, sources }) => file === 'cli.js' || sources.includes(source))
  for (const { imports } of queue) {
    queue.push(...built.commands.filter((one) => imports.includes(one.file) && !queue.includes(one)))
  }
  return queue
}

/** Modules of Node that a file of dist/ imports, with all that it links. */
function linkedBy(file: string): readonly string[] {
  const files = [file]
  const modules = new Set<string>()
  for (const one of files) {
    for (const [, imported = ''] of readFileSync(join(dist, one), 'utf8').matchAll(/(?:from|import)"([^"]+)"/g)) {
      const beside = /^\.\/(.+)$/.exec(imported)?.[1]
      if (beside === undefined) modules.add(imported)
      else if (!files.includes(beside)) files.push(beside)
    }
  }
  return [...modules]
}

type Ran = { code: number | null; out: string; err: string }

function run(words: readonly string[], node: readonly string[] = [], at = home): Promise<Ran> {
  return started([...node, join(dist, 'souk.js'), ...words], at)
}

function evaluate(code: string): Promise<Ran> {
  return started(['--input-type=module', '--eval', code], home)
}

function started(words: readonly string[], at: string): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { HOME: at, PATH: process.env.PATH ?? '', TMPDIR: at }
    const child = spawn(process.execPath, words, { env })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    child.once('close', (code) => resolve({ code, out, err: withoutWaiting(err) }))
  })
}

describe('the bundle', () => {
  it('loads for the catalog no more than what short commands share, and no schema library', () => {
    const loaded = loadedWith('commands/services/list.ts')
    const sources = loaded.flatMap((file) => file.sources)
    const packages = sources.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])
    expect([...new Set(packages)]).toEqual(['commander'])
    expect(loaded.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(SHORT_COMMAND_BYTES_MAX)
  })

  it('holds no daemon and no cockpit in any file of the command line, and each source once', () => {
    const sources = built.commands.flatMap((file) => file.sources)
    expect(sources.filter((file) => /^(daemon|src\/tui)\//.test(file))).toEqual([])
    expect(sources.length).toBe(new Set(sources).size)
  })

  it('is ASCII wherever a command reads it: one other letter makes two bytes of each', () => {
    for (const { file } of built.commands)
      expect([file, readFileSync(join(dist, file)).findIndex((byte) => byte > 127)]).toEqual([file, -1])
  })

  it('imports nothing of Node before the first frame: an import evaluates every lazy member', () => {
    const [, first = ''] = /from"\.\/([^"]+)"/.exec(readFileSync(join(dist, 'open.js'), 'utf8')) ?? []
    const imported = [first, 'cli-tui.js', 'cli-shared.js', 'cli-answers.js'].flatMap((file) =>
      [...readFileSync(join(dist, file), 'utf8').matchAll(/from"(node:[\w/]+)"/g)].map(([, name]) => name),
    )
    expect(imported).toEqual(['node:module'])
  })

  it('takes from a slow module of Node what is no function, and each function when it is called', () => {
    const text = "import { type Hash, randomBytes, webcrypto, X509Certificate as Certificate } from 'node:crypto'"
    expect(lightFront('/souk/src/one.ts', text)).toBe(
      "const { webcrypto: webcrypto,X509Certificate: Certificate } = globalThis.process.getBuiltinModule('node:crypto'), " +
        "randomBytes = (...all) => globalThis.process.getBuiltinModule('node:crypto').randomBytes(...all)",
    )
  })

  it('has the daemon, the signing library and every worker beside it', () => {
    const names = built.files.map(({ file }) => file)
    expect(names).toEqual(
      expect.arrayContaining(['souk.js', 'cli.js', 'daemon.js', 'viem-accounts.js', 'catalog.worker.js']),
    )
  })

  it('keeps rows in LevelDB where no package lies above it', async () => {
    const alone = join(home, 'alone')
    await cp(dist, join(alone, 'dist'), { recursive: true })
    copyBeside(join(alone, 'dist'))
    const config = { ...configDefaults, dataDir: join(home, 'in-level'), seed: 'none', rows: 'disk' }
    const { code, err } = await evaluate(
      `const { createDaemon } = await import(${JSON.stringify(join(alone, 'dist', 'daemon.js'))})
       await (await createDaemon(${JSON.stringify(config)})).stop()`,
    )
    expect([code, err]).toEqual([0, ''])
    expect(readFileSync(join(config.dataDir, 'store', 'MANIFEST.json'), 'utf8')).toContain('"rows": "level"')
  })

  it.each(Object.keys(libraryEntries))(
    '%s tells an older Node which one it needs, before anything does not link',
    async (name) => {
      const old = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })"
      const line = `${old}; await import(${JSON.stringify(join(dist, `${name}.js`))})`
      const { code, err } = await evaluate(line)
      expect([code, /^Error: .*$/m.exec(err)?.[0]]).toEqual([
        1,
        'Error: souk needs Node 22.13 or newer; this is 20.20.2.',
      ])
      // What Node 20 has not cannot be imported: that fails while it links, before any sentence.
      expect(linkedBy(`${name}.js`)).toContain('node:fs')
      expect(linkedBy(`${name}.js`).filter((module) => ['node:sqlite', 'node:sea'].includes(module))).toEqual([])
    },
  )

  it('exports by name what is loaded by name: a CommonJS package alone in a file has a default and nothing else', () => {
    const nameless = built.files.filter(
      ({ file, exports }) => !/^(part|tui)-/.test(file) && exports?.join() === 'default',
    )
    expect(built.files.find(({ file }) => file === 'yaml.js')?.exports).toContain('parseDocument')
    expect(nameless.map(({ file }) => file)).toEqual([])
  })

  it('reads and writes YAML', async () => {
    const listing = join(home, 'listing.yaml')
    const fields = ['name: Echo', 'description: says it again', 'price: "0.10"', 'fulfillment_type: automated']
    writeFileSync(listing, `${fields.join('\n')}\n`)
    expect(await run(['up', '--port', '0', '--seed', 'house', '--json'])).toMatchObject({ code: 0 })
    expect((await run(['openapi', '--yaml'])).out).toMatch(/^openapi: /)
    const made = await run(['provide', '--listing', listing, '--exec', 'cat', '--dry-run', '--json'])
    expect(made).toMatchObject({ code: 0 })
    expect(made.out).toContain('create Echo')
  })

  it('begins a store with services of its own, also where the first start was refused', async () => {
    const first = await run(['up', '--port', '0', '--instance', 'first', '--seed', 'banana'])
    expect(first).toMatchObject({ code: 2, err: expect.stringContaining('choose one of demo, house, none') })
    expect(first.err).not.toContain('unexpected error')
    expect((await run(['up', '--port', '0', '--instance', 'first', '--json'])).code).toBe(0)
    expect(JSON.parse((await run(['services', 'list', '--instance', 'first', '--json'])).out).total).toBeGreaterThan(0)
    await run(['down', '--instance', 'first'])
  })

  it('prints its version, and help on stdout', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' })
    expect((await run(['services'])).out).toContain('browse and buy services')
  })

  it('runs the daemon and a sale', async () => {
    const started = await run(['up', '--port', '0', '--seed', 'house', '--json'])
    expect([started.code, started.err]).toEqual([0, ''])
    for (const words of [
      ['wallet', 'new'],
      ['wallet', 'fund'],
      ['buy', 'qr_code', '-i', 'data=hello'],
    ]) {
      const { code, err } = await run([...words, '--json'])
      // What a command spent in all stands on stderr, as JSON here; nothing else does.
      const told = err === '' ? {} : JSON.parse(err)
      expect({ words, code, told: Object.keys(told) }).toEqual({
        words,
        code: 0,
        told: words[0] === 'buy' ? ['spent'] : [],
      })
    }
    expect(JSON.parse((await run(['down', '--json'])).out).instances[0].how).toBe('graceful')
  })

  it.each(['help --all', 'endpoints list', 'endpoints list --ndjson', 'endpoints list --json', 'openapi'])(
    '%s ends quietly, and well, when its reader goes away',
    async (words) => {
      await run(['up', '--port', '0', '--seed', 'house', '--json'])
      const line = `{ "${process.execPath}" "${join(dist, 'souk.js')}" ${words}; echo "code $?" >&2; } | head -c 1`
      const child = spawn('sh', ['-c', line], { env: { HOME: home, PATH: process.env.PATH ?? '' } })
      let err = ''
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      await new Promise((resolve) => child.once('close', resolve))
      expect(err).toBe('code 0\n')
    },
  )
})

describe('under the observed profile', () => {
  let observed: string
  const souk = (...words: string[]) => run([...words, '--json'], [], observed)
  const data = async (...words: string[]) => JSON.parse((await souk(...words)).out)

  beforeAll(async () => {
    observed = await mkdtemp(join(tmpdir(), 'souk-observed-'))
    expect(await souk('up', '--profile', 'observed', '--port', '0', '--seed', 'house')).toMatchObject({ code: 0 })
  })
  afterAll(async () => {
    await souk('down')
    await rm(observed, { recursive: true })
  })

  it('stands paused and cut over, and says since when', async () => {
    const health = await data('health')
    expect(health).toMatchObject({ status: 'paused', paused: true, checkout_v2: true })
    expect(Date.parse(health.paused_at)).toBeLessThanOrEqual(Date.now())
    const lists = (status: string) => health.endpoints.filter((row: { status: string }) => row.status === status).length
    expect([lists('paused') > 0, lists('deferred') > 0, lists('live') > lists('paused')]).toEqual([true, true, true])
  })

  it('goes on reading, and refuses each door in its own way', async () => {
    expect((await data('services', 'list')).total).toBeGreaterThan(0)
    await souk('wallet', 'new')
    await souk('wallet', 'fund')
    expect(await souk('buy', 'qr_code', '-i', 'data=hello')).toMatchObject({ code: 7 })
    expect(await souk('balance', 'deposit', '1.00')).toMatchObject({ code: 9 })
    const described = await data('openapi')
    expect(Object.keys(described.paths)).not.toContain('/v1/balance/deposit')
    expect(described.paths['/v1/register'].post['x-status']).toBe('paused')
  })

  it('opens when it is told to, and stays so when it is started without the profile', async () => {
    expect(await souk('admin', 'platform', 'unpause', '--yes')).toMatchObject({ code: 0 })
    expect(await souk('buy', 'qr_code', '-i', 'data=hello')).toMatchObject({ code: 0 })
    expect(await souk('down')).toMatchObject({ code: 0 })
    expect(await souk('up', '--port', '0')).toMatchObject({ code: 0 })
    expect(await data('health')).toMatchObject({ paused: false, checkout_v2: true })
    expect(await souk('balance', 'deposit', '1.00')).toMatchObject({ code: 9 })
  })
})

describe('on an older Node', () => {
  const pretend = () => {
    const file = join(home, 'old.mjs')
    // The entry may use only what Node 20.0 has: the version is turned back and newer members are taken away.
    writeFileSync(
      file,
      `if (!process.env.SOUK_TEST_CHILD) {
         Object.defineProperty(process.versions, 'node', { value: '20.0.0' })
         delete process.getBuiltinModule
         process.env.SOUK_TEST_CHILD = '1'
       }`,
    )
    return ['--import', file]
  }

  it('starts the packaged one, words, output and exit code passed on', async () => {
    expect(await run(['version', '--json'], pretend())).toMatchObject({ code: 0, err: '' })
    expect((await run(['nothing'], pretend())).code).toBe(2)
  })

  it('parses: its entry holds no syntax beyond Node 20', async () => {
    for (const file of ['souk.js', 'old-node.js']) {
      const text = readFileSync(join(dist, file), 'utf8')
      const { code } = await transform(text, { target: 'node20.0', format: 'esm' })
      const { code: same } = await transform(text, { target: 'esnext', format: 'esm' })
      expect(code).toBe(same)
    }
  })

  it('is asked for nothing before the version is known: the entry imports nothing statically', () => {
    expect(readFileSync(join(dist, 'souk.js'), 'utf8')).not.toMatch(/^import[ {*]|\bfrom"node:/m)
  })
})
