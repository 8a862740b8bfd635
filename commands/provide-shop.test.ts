import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PROGRAM } from '../fixtures/kit/program.ts'
import { openUser, openUserAtMarket, type User } from '../fixtures/kit/user.ts'
import { folderFor, leftIn } from '../src/provider/delivered-files.ts'

// @slow real processes sell and buy

/* From nothing to selling by one command: a provider and a buyer, each with a home of their own, and real processes. */

const REMOTE = ['--remote', 'shop', '--as', 'seller', '--yes']

/** Of the marketplace, and who buys there. */
let buyer: User
let seller: User
let folder: string
const running: ChildProcess[] = []

beforeAll(async () => {
  buyer = await openUserAtMarket()
  await buyer.register('ann', '50.00')
  seller = await openUser()
  const { url } = await buyer.json('status')
  await seller.json('remote', 'add', 'shop', url, '--network', 'sandbox')
  folder = join(seller.home, 'work')
  mkdirSync(folder)
})
afterEach(async () => {
  for (const child of running.splice(0)) await ended(child, 'SIGKILL')
})
afterAll(async () => {
  await seller?.close()
  await buyer?.close()
})

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((done) => child.once('close', done))
    child.kill(signal)
    await closed
  }
  return child.exitCode
}

// biome-ignore lint/suspicious/noExplicitAny: lines of many shapes, each read by the test that asked
type Said = any

type Provider = {
  readonly child: ChildProcess
  readonly lines: readonly Said[]
  /** The first line like that, waited for. */
  readonly says: (like: Readonly<Record<string, unknown>>) => Promise<Said>
  readonly err: () => string
}

/** `souk provide` as a process of its own. */
function provide(...words: string[]): Provider {
  const args = [PROGRAM, 'provide', ...words, ...REMOTE, '--ndjson']
  const env = { HOME: seller.home, PATH: process.env.PATH ?? '', TMPDIR: seller.home }
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  let out = ''
  let err = ''
  const lines: Said[] = []
  child.stderr.on('data', (part) => {
    err += String(part)
  })
  child.stdout.on('data', (part) => {
    const parts = (out + String(part)).split('\n')
    out = parts.pop() ?? ''
    for (const line of parts) lines.push(JSON.parse(line))
  })
  const says = async (like: Readonly<Record<string, unknown>>): Promise<Said> => {
    for (;;) {
      const found = lines.find((line) => Object.entries(like).every(([name, value]) => line[name] === value))
      if (found) return found
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`it ended without ${JSON.stringify(like)}: ${JSON.stringify(lines)} ${err}`)
      await sleep(20)
    }
  }
  return { child, lines, says, err: () => err }
}

function file(name: string, text: string, mode?: number): string {
  const path = join(folder, name)
  writeFileSync(path, text, mode === undefined ? {} : { mode })
  return path
}

const listing = (name: string, price: string, more = '') =>
  `name: ${name}\ndescription: Counts words.\nprice: ${price}\n${more}`
const SCRIPT = '#!/bin/sh\nwords=$(wc -w < "$SOUK_JOB_FILE")\necho "{\\"words\\": $words}"\n'

const buy = async (id: string, text = 'a b'): Promise<Said> =>
  buyer.json('buy', id, '-i', `text=${text}`, '--as', 'ann', '--pay', 'x402')
const job = (id: string): Promise<Said> => buyer.json('jobs', 'view', id, '--as', 'ann')
async function until(id: string, status: string): Promise<Said> {
  for (;;) {
    const found = await job(id)
    if (found.status === status) return found
    if (['failed', 'expired', 'cancelled'].includes(found.status)) throw new Error(JSON.stringify(found))
    await sleep(50)
  }
}

test('three lines of shell and of YAML are a business: practised, bought, rated, disputed, settled', async () => {
  file('count.yaml', listing('Word count', '0.50'))
  file('count.sh', SCRIPT, 0o755)
  const { child, says, lines } = provide('--listing', 'count.yaml', '--exec', './count.sh')
  const { service_id: id } = await says({ event: 'listed', change: 'created', price: '0.525' })
  const practice = await says({ event: 'practice', state: 'bought' })
  await says({ event: 'delivered', job_id: practice.job_id, net: '0.50' })
  expect(await says({ event: 'practice', state: 'passed' })).toMatchObject({ job_id: practice.job_id, price: '0.525' })

  const first = await buy(id)
  expect(await until(first.job_id, 'verified')).toMatchObject({ deliverables: [{ words: 2 }] })
  await buyer.json('jobs', 'verify', first.job_id, '--rating', '5', '--as', 'ann', '--pay', 'x402')
  await buyer.json('crons', 'run', 'escrow-monitor')
  await buyer.json('crons', 'run', 'provider-settlement')
  const earned = await seller.json('earnings', ...REMOTE)
  expect(earned).toMatchObject({ lifetime_usd: 1, settled_usd: 1, pending_usd: 0 })
  expect((await buyer.json('money', 'audit')).ok).toBe(true)
  expect(await ended(child, 'SIGINT')).toBe(130)
  expect(lines.filter(({ event }) => event === 'delivered')).toHaveLength(2)

  // The same command again finds it as it is: nothing is made twice, and nothing practised.
  const again = provide('--listing', 'count.yaml', '--exec', './count.sh', '--once')
  await new Promise((done) => again.child.once('close', done))
  expect(again.lines).toMatchObject([{ event: 'listed', change: 'unchanged', service_id: id }, { event: 'providing' }])
  expect((await seller.json('services', 'list', '--mine', ...REMOTE)).total).toBe(1)
})

test('a provider that is killed in the middle of a job does it once, and is paid once', async () => {
  file('slow.yaml', listing('Slow count', '0.40', 'fulfillment_type: human\n'))
  // Waits for the test, and leaves a mark of each run.
  file('slow.sh', '#!/bin/sh\necho run >> runs\nwhile [ ! -e go ]; do sleep 0.05; done\necho \'{"words": 2}\'\n', 0o755)
  const words = ['--listing', 'slow.yaml', '--exec', './slow.sh', '--practice', 'never']
  const killed = provide(...words)
  const { service_id: id } = await killed.says({ event: 'listed' })
  const { job_id } = await buy(id)
  await killed.says({ event: 'started', job_id })
  while (!existsSync(join(folder, 'runs'))) await sleep(20)
  await ended(killed.child, 'SIGKILL')
  expect((await job(job_id)).status).toBe('in_progress')

  const next = provide(...words)
  await next.says({ event: 'started', job_id })
  file('go', '')
  await next.says({ event: 'delivered', job_id })
  const { timeline, deliverables, escrow } = await until(job_id, 'completed')
  expect(deliverables).toEqual([{ words: 2 }])
  expect(timeline.filter((one: Said) => one.event === 'job.completed' || one.event === 'completed')).toHaveLength(1)
  expect(escrow.status).toBe('held')
  await buyer.json('jobs', 'verify', job_id, '--as', 'ann', '--pay', 'x402')
  const { recent_settlements: sales } = await seller.json('earnings', ...REMOTE)
  expect(sales.filter((one: Said) => one.job_id === job_id)).toMatchObject([{ provider_amount_usd: 0.4 }])

  // The next one is disputed: who decides gives the money back, and nothing of it is earned.
  const disputed = await buy(id)
  await until(disputed.job_id, 'completed')
  await buyer.json('jobs', 'dispute', disputed.job_id, '--reason', 'There are three', '--as', 'ann', '--pay', 'x402')
  const ruling = ['--outcome', 'refund', '--reason', 'There are', '--yes']
  await buyer.json('admin', 'jobs', 'resolve', disputed.job_id, ...ruling)
  expect(await job(disputed.job_id)).toMatchObject({ status: 'refunded', escrow: { status: 'refunded' } })
  expect((await buyer.json('money', 'audit')).ok).toBe(true)
})

describe('under --watch', () => {
  test('an edit is what the next buyer sees, and a job that runs keeps its price', async () => {
    file('watched.yaml', listing('Watched', '0.50', 'fulfillment_type: human\n'))
    file('watched.sh', '#!/bin/sh\nwhile [ ! -e open ]; do sleep 0.05; done\necho \'{"words": 1}\'\n', 0o755)
    const shop = provide('--listing', 'watched.yaml', '--exec', './watched.sh', '--watch', '--practice', 'never')
    const { service_id: id } = await shop.says({ event: 'listed' })
    const before = await buy(id)
    await shop.says({ event: 'started', job_id: before.job_id })
    file('watched.yaml', listing('Watched', '0.80', 'fulfillment_type: human\n'))
    expect(await shop.says({ event: 'listed', change: 'changed' })).toMatchObject({ price: '0.84', changed: ['price'] })
    expect((await buyer.json('services', 'view', id)).agent_price.fixed).toBe('$0.84')
    const after = await buy(id)
    file('open', '')
    expect(await until(before.job_id, 'completed')).toMatchObject({ amount: '0.525', provider_amount: '0.50' })
    expect(await until(after.job_id, 'completed')).toMatchObject({ amount: '0.84', provider_amount: '0.80' })

    // What is wrong changes nothing, and is told; one that comes too soon for who was quoted waits for them.
    file('watched.yaml', listing('Watched', 'lots'))
    expect(await shop.says({ event: 'withheld', what: 'listing' })).toMatchObject({ again_ms: null })
    file('watched.yaml', listing('Watched', '0.90', 'fulfillment_type: human\n'))
    while (!shop.lines.some((line) => line.event === 'withheld' && line.again_ms > 0)) await sleep(20)
    expect((await buyer.json('services', 'view', id)).agent_price.fixed).toBe('$0.84')
    expect(await ended(shop.child, 'SIGTERM')).toBe(143)
  })

  test('a program that is being edited lets jobs wait, and the next one runs the new', async () => {
    file('edited.yaml', listing('Edited', '0.10'))
    const program = file('edited.sh', '#!/bin/sh\necho \'{"version": 1}\'\n', 0o755)
    const shop = provide('--listing', 'edited.yaml', '--exec', './edited.sh', '--watch', '--practice', 'never')
    const { service_id: id } = await shop.says({ event: 'listed' })
    await shop.says({ event: 'providing' })
    // Its settled state is looked at before it is edited.
    await until((await buy(id)).job_id, 'verified')
    writeFileSync(program, '', { mode: 0o644 })
    await import('node:fs/promises').then(({ chmod }) => chmod(program, 0o644))
    await shop.says({ event: 'withheld', what: 'program' })
    const { job_id } = await buy(id)
    await import('node:fs/promises').then(({ rm }) => rm(program))
    file('edited.sh', '#!/bin/sh\necho \'{"version": 2}\'\n', 0o755)
    await shop.says({ event: 'reloaded', what: 'program' })
    expect(await until(job_id, 'verified')).toMatchObject({ deliverables: [{ version: 2 }] })
  })
})

test('a practice that fails takes the listing off, ends with 1 and says why; mended, it is offered again', async () => {
  file('broken.yaml', listing('Broken', '0.30', 'deliverable_schema: {type: object, required: [words]}\n'))
  file('broken.sh', '#!/bin/sh\necho no words >&2\nexit 3\n', 0o755)
  const words = ['--listing', 'broken.yaml', '--exec', './broken.sh', '--once']
  const shop = provide(...words)
  await new Promise((done) => shop.child.once('close', done))
  expect(shop.lines.at(-1)).toMatchObject({ event: 'practice', state: 'failed', reason: 'no words' })
  expect(shop.child.exitCode).toBe(1)
  const { services } = await seller.json('services', 'list', '--mine', ...REMOTE)
  expect(services.find(({ name }: Said) => name === 'Broken').status).toBe('inactive')
  file('broken.sh', SCRIPT, 0o755)
  const mended = provide(...words)
  await mended.says({ event: 'practice', state: 'passed' })
  expect(mended.lines[0]).toMatchObject({ change: 'changed', changed: ['status'], status: 'active' })
})

test('files that are left for a job are delivered by name, and fetched by the buyer', async () => {
  file('files.yaml', listing('Files', '0.20', 'input_schema: {type: object, properties: {text: {type: string}}}\n'))
  file(
    'files.sh',
    '#!/bin/sh\nmkdir "$SOUK_DELIVER_DIR/deep"\ncp "$SOUK_JOB_FILE" "$SOUK_DELIVER_DIR/deep/input.json"\n',
    0o755,
  )
  const shop = provide('--listing', 'files.yaml', '--exec', './files.sh', '--deliver', './out', '--practice', 'never')
  const { service_id: id } = await shop.says({ event: 'listed' })
  const { job_id } = await buy(id, 'hello')
  const { deliverables, thread_id } = await until(job_id, 'verified')
  const [{ files }] = deliverables
  expect(files).toMatchObject([
    { name: 'deep/input.json', size_bytes: 16, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ])
  const saved = join(buyer.home, 'input.json')
  await buyer.json('threads', 'download', thread_id, files[0].file_id, '--output', saved, '--as', 'ann')
  expect(JSON.parse(readFileSync(saved, 'utf8'))).toEqual({ text: 'hello' })
})

describe('what a program leaves in its folder', () => {
  const JOB = 'job_0123456789abcdef'
  const left = (leave: (own: string) => void) => {
    const root = join(seller.home, `out-${crypto.randomUUID()}`)
    mkdirSync(root)
    const own = folderFor(root, JOB)
    leave(own)
    return () => leftIn(own)
  }
  test.each<[string, (own: string) => void, string]>([
    ['a link to a file outside', (own) => symlinkSync('/etc/passwd', join(own, 'a.txt')), 'is a link'],
    ['a folder that is a link', (own) => symlinkSync('/etc', join(own, 'etc')), 'is a link'],
    [
      'a second name of a file outside',
      (own) => {
        writeFileSync(join(own, '../secret'), 'x')
        linkSync(join(own, '../secret'), join(own, 'a.txt'))
      },
      'is a hard link',
    ],
    [
      'more than fits a conversation',
      (own) => {
        for (let n = 0; n < 11; n += 1) writeFileSync(join(own, `${n}`), 'x')
      },
      'there are 11 files',
    ],
    ['folders without end', (own) => mkdirSync(join(own, 'a/b/c/d/e'), { recursive: true }), 'deep'],
    ['nothing in a file', (own) => writeFileSync(join(own, 'a'), ''), 'is empty'],
    ['more bytes than are taken', (own) => writeFileSync(join(own, 'a'), Buffer.alloc(10 * 1024 * 1024 + 1)), 'larger'],
  ])('%s is not delivered', (_, leave, why) => {
    expect(left(leave)).toThrow(why)
  })

  test('what an earlier try left is gone, and a link in its place leads nowhere', () => {
    const root = join(seller.home, 'linked')
    const outside = join(seller.home, 'outside')
    mkdirSync(root)
    mkdirSync(outside)
    writeFileSync(join(outside, 'precious'), 'x')
    symlinkSync(outside, join(root, JOB))
    const own = folderFor(root, JOB)
    expect([readdirSync(own), readdirSync(outside)]).toEqual([[], ['precious']])
    writeFileSync(join(own, 'half'), 'x')
    expect(readdirSync(folderFor(root, JOB))).toEqual([])
    expect(() => folderFor(root, '../../etc')).toThrow('no job id')
  })
})

describe('nothing starts', () => {
  const made = async () => ({
    wallets: (await seller.json('wallet', 'list')).wallets?.length ?? 0,
    listings: (await buyer.json('services', 'list', '--limit', '100')).total,
  })
  const good = () => file('good.yaml', listing('Good', '0.50'))
  test.each<[string, () => readonly string[], string]>([
    [
      'a program that is not there',
      () => ['--listing', good(), '--exec', './none.sh'],
      'There is no program ./none.sh',
    ],
    [
      'a program that may not be run',
      () => ['--listing', good(), '--exec', file('plain.sh', 'echo')],
      'is not executable',
    ],
    [
      'a line that no shell reads',
      () => ['--listing', good(), '--exec', 'if then', '--shell'],
      'cannot read the command',
    ],
    ['a folder that is none', () => ['--listing', good(), '--exec', 'cat', '--cwd', './none'], 'There is no folder'],
    ['no file', () => ['--listing', './none.yaml', '--exec', 'cat'], 'There is no file ./none.yaml'],
    [
      'a price that is none',
      () => ['--listing', file('l.yaml', listing('L', 'lots')), '--exec', 'cat'],
      'price: must be',
    ],
    ['no price', () => ['--listing', file('l.yaml', 'name: L\ndescription: L\n'), '--exec', 'cat'], 'price: required'],
    [
      'a schema that does not compile',
      () => ['--listing', file('l.yaml', listing('L', '1', 'input_schema: {type: objekt}\n')), '--exec', 'cat'],
      'input_schema',
    ],
    [
      'the same of the deliverable',
      () => [
        '--listing',
        file('l.yaml', listing('L', '1', 'deliverable_schema: {type: object, properties: 3}\n')),
        '--exec',
        'cat',
      ],
      'deliverable_schema',
    ],
    [
      'a field that no listing has',
      () => ['--listing', file('l.yaml', listing('L', '1', 'prize: 2\n')), '--exec', 'cat'],
      'prize: unknown field',
    ],
    [
      'a listing that answers at once',
      () => ['--listing', file('l.yaml', listing('L', '1', 'fulfillment_type: instant\n')), '--exec', 'cat'],
      'instant',
    ],
    [
      'a form of delivery that is none',
      () => ['--listing', good(), '--exec', 'cat', '--deliver', 'stdout'],
      './stdout',
    ],
    ['neither a listing nor a file', () => ['--exec', 'cat'], 'Give one of your listings'],
  ])('for %s', async (_, words, why) => {
    const before = await made()
    const { code, err, out } = await seller.souk(
      'provide',
      ...words(),
      '--remote',
      'shop',
      '--as',
      'nobody',
      '--yes',
      '--once',
    )
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(why) })
    expect([out, await made()]).toEqual(['', before])
  })

  test('under --dry-run, which says what would', async () => {
    const before = await made()
    const words = ['--listing', good(), '--exec', 'cat', '--deliver', join(folder, 'unmade'), '--dry-run', '--ndjson']
    const { code, out } = await seller.souk('provide', ...words, '--remote', 'shop', '--as', 'newcomer')
    const steps = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, steps.map(({ step }) => step)]).toEqual([
      0,
      ['program', 'wallet', 'account', 'listing', 'practice', 'work'],
    ])
    expect(steps.every(({ dry_run }) => dry_run)).toBe(true)
    expect([await made(), existsSync(join(folder, 'unmade'))]).toEqual([before, false])
  })
})
