import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunOptions } from '../fixtures/kit/command-line.testkit.ts'
import { openRemoteMarket, type RemoteMarket } from '../fixtures/kit/remote-market.ts'
import { isAlive } from '../src/client/process.ts'

// @slow programs do the work

/* A provider at the command line, without an address: real programs do its jobs. */

const NODE = process.execPath
let shop: RemoteMarket
let folder: string
beforeAll(async () => {
  shop = await openRemoteMarket()
  folder = join(shop.market.dir, 'programs')
  await mkdir(folder)
  for (const who of ['ann', 'bob']) {
    await shop.json(['wallet', 'new', who])
    await shop.json(['wallet', 'fund', who])
    await shop.json(['account', 'register', '--role', 'provider', '--as', who])
  }
})
afterAll(() => shop.market.close())

let number = 0
/** A listing of bob's that promises an object with a number of words. */
async function listed(): Promise<string> {
  number += 1
  const schema = { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] }
  const listing = {
    name: `Words ${number}`,
    description: 'Counts words.',
    price: '0.50',
    fulfillment_type: 'human',
    deliverable_schema: schema,
  }
  const file = join(folder, `listing-${number}.json`)
  writeFileSync(file, JSON.stringify(listing))
  return (await shop.json(['services', 'create', '--file', file, '--as', 'bob'])).id
}

const buy = async (service: string, text = 'a b c'): Promise<string> =>
  (await shop.json(['buy', service, '-i', `text=${text}`, '--as', 'ann', '--pay', 'x402'])).job_id
const job = (id: string) => shop.json(['jobs', 'view', id, '--as', 'ann'])
const provide = (service: string, words: string[], options?: RunOptions) =>
  shop.lines(['provide', service, '--as', 'bob', ...words], options)

/** A program of these lines of JavaScript. */
function program(...lines: string[]): string {
  const file = join(folder, `program-${crypto.randomUUID()}.mjs`)
  writeFileSync(file, lines.join('\n'))
  return `'${NODE}' '${file}'`
}

const COUNT = [
  `import { readFileSync } from 'node:fs'`,
  `const { text } = JSON.parse(readFileSync(0, 'utf8'))`,
  `if (text === 'fail') { console.error('line one'); console.error('no words at all'); process.exit(4) }`,
  'console.log(JSON.stringify({ words: text.split(" ").length }))',
]

describe('--once does what waits', () => {
  test('and delivers what is printed; a failure gives the money back', async () => {
    const service = await listed()
    const good = await buy(service)
    const bad = await buy(service, 'fail')
    const { code, lines } = await provide(service, ['--exec', program(...COUNT), '--once'])
    expect(code).toBe(1)
    expect(lines.map(({ event, job_id }) => [event, job_id])).toEqual([
      ['providing', undefined],
      ['started', good],
      ['delivered', good],
      ['started', bad],
      ['failed', bad],
    ])
    expect(lines[2]).toMatchObject({ exit: 0, bytes: 12, net: '0.50' })
    expect(lines[4]).toMatchObject({ exit: 4, reason: 'no words at all' })
    expect(await job(good)).toMatchObject({ status: 'completed', deliverables: [{ words: 3 }] })
    expect(await job(bad)).toMatchObject({ status: 'failed', notes: 'no words at all', escrow: { status: 'refunded' } })
    expect(await provide(service, ['--exec', 'false', '--once'])).toMatchObject({
      code: 0,
      lines: [{ event: 'providing' }],
    })
  })

  test('with all that the contract promises to the command', async () => {
    const service = await listed()
    const id = await buy(service, '$(rm -rf /) "quoted"')
    const seen = join(folder, 'seen.json')
    const work = program(
      `import { readFileSync, writeFileSync, existsSync } from 'node:fs'`,
      'const { env } = process',
      'const names = Object.keys(env).filter((name) => /^(SOUK_JOB|SOUK_SERVICE|SOUK_BUYER|SOUK_DEADLINE|MINE)/.test(name))',
      `writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ names: names.sort(), id: env.SOUK_JOB_ID, mine: env.MINE,`,
      `  same: readFileSync(env.SOUK_JOB_FILE, 'utf8') === readFileSync(0, 'utf8').trim(), cwd: process.cwd(),`,
      '  words: process.argv.length, workdir: env.SOUK_WORKDIR, there: existsSync(env.SOUK_WORKDIR) }))',
      `console.error('progress: 40 half of it')`,
      'console.log(JSON.stringify({ words: 1 }))',
    )
    const words = ['--exec', work, '--cwd', folder, '--env', 'MINE=yes', '--once']
    expect(await provide(service, words)).toMatchObject({ code: 0 })
    const told = JSON.parse(readFileSync(seen, 'utf8'))
    expect(told).toMatchObject({ id, mine: 'yes', same: true, cwd: folder, words: 2, there: true })
    expect(told.names).toEqual([
      'MINE',
      'SOUK_BUYER',
      'SOUK_DEADLINE',
      'SOUK_JOB_FILE',
      'SOUK_JOB_ID',
      'SOUK_SERVICE_ID',
    ])
    expect(existsSync(told.workdir)).toBe(false)
    expect(JSON.stringify((await job(id)).timeline)).toContain('40 half of it')
  })

  test('again where the command asks for it', async () => {
    const service = await listed()
    const id = await buy(service)
    const mark = join(folder, 'mark')
    const work = program(
      `import { existsSync, writeFileSync } from 'node:fs'`,
      `if (!existsSync('${mark}')) { writeFileSync('${mark}', ''); console.error('busy'); process.exit(75) }`,
      'console.log(JSON.stringify({ words: 2 }))',
    )
    const { code, lines } = await provide(service, ['--exec', work, '--once', '--retry-delay', '10ms'])
    expect([code, lines.map(({ event }) => event)]).toEqual([
      0,
      ['providing', 'started', 'retry', 'started', 'delivered'],
    ])
    expect(lines[2]).toMatchObject({ exit: 75, reason: 'busy', wait_ms: 10 })
    expect((await job(id)).status).toBe('completed')
  })

  test.each<[string, string[], string[], string]>([
    ['asks for later too often', ['process.exit(75)'], [], 'asked to try again later'],
    ['prints what is not promised', [`console.log('{"words":"three"}')`], [], 'words'],
    ['prints no JSON', [`console.log('three')`], [], 'not JSON'],
    ['takes too long', ['setTimeout(() => {}, 60_000)'], ['--timeout', '200ms'], 'longer than'],
  ])('a command that %s fails its job', async (...[, lines, words, reason]) => {
    const service = await listed()
    const id = await buy(service)
    const more = ['--once', '--retries', '1', '--retry-delay', '1ms', ...words]
    const { code, lines: said } = await provide(service, ['--exec', program(...lines), ...more])
    expect([code, said.at(-1)]).toMatchObject([1, { event: 'failed', reason: expect.stringContaining(reason) }])
    expect((await job(id)).status).toBe('failed')
  })

  test('and what a command started ends with it', async () => {
    const service = await listed()
    await buy(service)
    const pidFile = join(folder, 'pid')
    const exec = `sleep 60 & echo $! > ${pidFile}; wait`
    await provide(service, ['--exec', exec, '--shell', '--timeout', '300ms', '--once'])
    const pid = Number(readFileSync(pidFile, 'utf8'))
    expect([pid > 0, isAlive(pid)]).toEqual([true, false])
  })

  test('several at once, up to --concurrency', async () => {
    const service = await listed()
    for (let n = 0; n < 5; n += 1) await buy(service)
    const log = join(folder, 'log')
    const work = program(
      `import { appendFileSync } from 'node:fs'`,
      `appendFileSync('${log}', '+')`,
      `setTimeout(() => { appendFileSync('${log}', '-'); console.log('{"words":1}') }, 200)`,
    )
    expect(await provide(service, ['--exec', work, '--concurrency', '2', '--once'])).toMatchObject({ code: 0 })
    let open = 0
    const depths = [...readFileSync(log, 'utf8')].map((sign) => (open += sign === '+' ? 1 : -1))
    expect(Math.max(...depths)).toBe(2)
  })
})

test('it goes on over a restart, and finishes what it began after ctrl-c', async () => {
  const service = await listed()
  const waited = await buy(service)
  const ctrlC = new AbortController()
  const go = join(folder, 'go')
  const work = program(
    `import { existsSync, readFileSync } from 'node:fs'`,
    `const { text } = JSON.parse(readFileSync(0, 'utf8'))`,
    `while (text === 'slow' && !existsSync('${go}')) await new Promise((done) => setTimeout(done, 10))`,
    'console.log(JSON.stringify({ words: 1 }))',
  )
  const providing = provide(service, ['--exec', work], { interrupt: ctrlC.signal })
  await until(waited, 'completed')
  await shop.restart()
  const afterwards = await buy(service)
  await until(afterwards, 'completed')
  const slow = await buy(service, 'slow')
  await until(slow, 'in_progress')
  await shop.restart()
  ctrlC.abort()
  writeFileSync(go, '')
  const { code, lines } = await providing
  expect(code).toBe(130)
  const delivered = lines.filter(({ event }) => event === 'delivered').map(({ job_id }) => job_id)
  expect(delivered).toEqual([waited, afterwards, slow])
  expect((await job(slow)).status).toBe('completed')
})

async function until(id: string, status: string): Promise<void> {
  while ((await job(id)).status !== status) await sleep(20)
}

test('a job that was cut short is done by the next run; one that is over is let be', async () => {
  const service = await listed()
  const [cut, gone] = [await buy(service), await buy(service)]
  await shop.json(['jobs', 'update', cut, '--status', 'in_progress', '--as', 'bob'])
  await shop.json(['jobs', 'update', gone, '--status', 'failed', '--as', 'bob'])
  const { lines } = await provide(service, ['--exec', program(...COUNT), '--once'])
  expect(lines.slice(1).map(({ event, job_id }) => [event, job_id])).toEqual([
    ['started', cut],
    ['delivered', cut],
  ])
})

test.each<[string, string[], number]>([
  ['somebody else’s listing', ['qr_code', '--exec', 'cat'], 4],
  ['no such listing', ['svc_0000000000000000', '--exec', 'cat'], 3],
  ['a quote that is not closed', ['qr_code', '--exec', `'cat`], 2],
  ['a variable that is none', ['MINE', '--exec', 'cat', '--env', '=x'], 2],
  ['no command', ['qr_code'], 2],
  ['too many at once', ['qr_code', '--exec', 'cat', '--concurrency', '65'], 2],
])('%s is refused', async (_, words, exit) => {
  const mine = words.includes('MINE') ? await listed() : ''
  const named = words.map((word) => (word === 'MINE' ? mine : word))
  const { code, out } = await shop.souk(['provide', ...named, '--once', '--as', 'bob', '--ndjson'])
  expect([code, out.includes('"started"')]).toEqual([exit, false])
})
