import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asks, honest, rowOf } from '../fixtures/hostile/answers.ts'
import { FAKE_LINE, MARK } from '../fixtures/hostile/poison.ts'
import { type Hostile, openHostile, type Trick } from '../fixtures/hostile/server.ts'
import { flood, moneyTricks, tricks, waits } from '../fixtures/hostile/tricks.ts'
import { isPayment, openVictim, type Victim, worthOf } from '../fixtures/hostile/victim.ts'
import { shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { sampled } from '../fixtures/kit/depth.ts'
import { entries } from './index.ts'

// @slow every command against a part of the tricks, all of them in time

/* Every command there is against every trick that a hostile server can play. */

let hostile: Hostile
let victim: Victim
beforeAll(async () => {
  hostile = await openHostile()
  victim = await openVictim(hostile)
})
afterAll(async () => {
  await victim.close()
  await hostile.close()
})

/** They draw on a terminal, or are a daemon and not its client. */
const APART = ['tui', 'daemon serve']
const COLUMNS = 100
/** Each command meets so many of the tricks; the others are the turn of the next commits. */
const TRICKS_ONE_IN = 8
/** Requests of a follower that are waited for. */
const POLLS = 4
/** Commands pause for a second. */
const PAUSE_MS = 900
const PATIENCE = ['--yes', '--timeout', '5s', '--wait=20ms']
const commands = entries.filter(({ name, aliasOf }) => aliasOf === undefined && !APART.includes(name))
const examples = (await Promise.all(commands.map(({ load }) => load()))).map(
  ({ command }) => [command.name, command.examples] as const,
)

/** What is typed under a trick: the first example, each under poison; payments from the balance and by signature. */
function linesFor(trick: string, lines: readonly string[]): readonly string[] {
  if (trick.startsWith('poison')) return lines
  const [first = ''] = lines
  return moneyTricks.includes(trick) ? [first, `${first} --pay x402`] : [first]
}

describe.each(examples)('souk %s', (command, lines) => {
  const turn = examples.findIndex(([name]) => name === command)
  test('is not harmed by a hostile server', async () => {
    const harm: string[] = []
    let asked = 0
    for (const [name, trick] of sampled(Object.entries(tricks), TRICKS_ONE_IN, turn)) {
      for (const line of linesFor(name, lines)) {
        const [, ...words] = shellWords(line)
        hostile.play(trick)
        const visit = await victim.run([...words, ...PATIENCE], { columns: COLUMNS })
        asked += hostile.received.length
        harm.push(...visit.harm.map((what) => `${name}: ${line}: ${what}`))
      }
      // It has run under all its examples by now: what never asks a server need not be harmed by one.
      if (asked === 0) break
    }
    expect(harm).toEqual([])
  })
})

const JOB = 'job_0123456789abcdef'

/** No trick, but work in every answer about a job. */
const delivered: Trick = ({ origin, received }) =>
  honest(origin, received, (value) => ({ ...(value as object), result: WORK, deliverables: [WORK] }))
const WORK = { words: '<svg xmlns="http://www.w3.org/2000/svg"/>', '../../precious.txt': '<svg />' }

/** One command under one trick. */
function under(trick: string, words: string) {
  const found = { ...tricks, ...waits, flood, 'an honest answer': delivered }[trick]
  if (found === undefined) throw new Error(`there is no trick "${trick}"`)
  hostile.play(found)
  return victim.run(shellWords(words), { columns: COLUMNS })
}

const worth = () => hostile.received.filter(isPayment).reduce((sum, one) => sum + worthOf(one), 0n)

describe('money', () => {
  test('a purchase that is polled behind a 402 is paid for once, and no poll is', async () => {
    const { err, harm } = await under('paid polling', 'buy svc_0123456789abcdef -i text=a --pay x402 --wait --json')
    expect(harm).toEqual([])
    expect(hostile.received.filter(isPayment).map(({ path }) => path)).toEqual([
      '/v1/services/svc_0123456789abcdef/purchase',
    ])
    expect(err).toContain('this command never pays')
  })

  test('watching a job without its token never pays', async () => {
    const watched = await under('paid polling', `jobs watch ${JOB} --pay x402`)
    expect([watched.code, worth()]).toEqual([5, 0n])
  })

  test('what a command agreed to is counted against its limit although the answer was another 402', async () => {
    const { err } = await under('the same wall for ever', `jobs verify ${JOB} --pay x402`)
    expect(worth()).toBe(300_000n)
    expect(err).toContain('up to $0.30 is authorised and may still be charged')
  })

  test.each([
    `jobs verify ${JOB}`,
    'buy svc_0123456789abcdef -i text=a --max-price 5.00',
    'plans subscribe plan_0123456789abcdef --max-price 5.00',
    'products buy prod_0123456789abcdef --max-price 5.00',
    'account register --name a --max-price 5.00',
  ])('a key that is forgotten once it was charged brings no second payment: %s', async (words) => {
    let isCharged = false
    hostile.play(({ origin, received }) => {
      const { 'x-balance-auth': charged, 'x-api-key': key } = received.headers
      isCharged ||= charged !== undefined
      const isForgotten = isCharged && (charged ?? key) !== undefined
      if (isForgotten) return { status: 401, body: { error: 'Who is that?', code: 'unauthorized' } }
      return key !== undefined && rowOf(received)?.name !== 'getBalance'
        ? asks(origin, received)
        : honest(origin, received)
    })
    const { code, harm } = await victim.run(shellWords(words), { columns: COLUMNS })
    expect([code, harm, isCharged, worth()]).toEqual([4, [], true, 250_000n])
  })

  test.each(['amount', 'payee', 'asset', 'network'])(
    'another %s to read than to sign is refused, and named',
    async (field) => {
      const refused = await under(`another ${field} to read than to sign`, `jobs verify ${JOB} --pay x402`)
      expect([refused.code, worth()]).toEqual([5, 0n])
      expect(refused.err).toContain(`contradicts itself: body and header differ in ${field}`)
    },
  )

  test('an answer that took more than was agreed is told with what it states', async () => {
    const { err } = await under('more taken than agreed', 'balance deposit 0.25')
    expect(err).toContain('the response says $666.00 was charged; $0.25 was authorised')
    expect(err).toContain('spent $666.00 in total')
  })
})

describe('a schema of a stranger', () => {
  const text = `${'a'.repeat(3_000)}!`
  const loop = { $defs: { d: { allOf: [{ $ref: '#/$defs/d' }, { $ref: '#/$defs/d' }] } }, $ref: '#/$defs/d' }
  const deep = (levels: number): object => (levels === 0 ? {} : { properties: { text: deep(levels - 1) } })
  const under = (input_schema: object) => {
    hostile.play(({ origin, received }) =>
      honest(origin, received, (value) => ({
        ...(value as object),
        ...('input_schema' in (value as object) ? { input_schema } : {}),
      })),
    )
    return victim.run(['buy', 'svc_0123456789abcdef', '-i', `text=${text}`, '--pay', 'x402'], { columns: COLUMNS })
  }

  test.each<[string, object]>([
    ['whose pattern takes for ever elsewhere', { properties: { text: { type: 'string', pattern: '^(a+)+$' } } }],
    ['that refers to itself', loop],
    ['that is too deep', deep(500)],
    ['that is too large', { description: 'x'.repeat(100_000), properties: { text: {} } }],
    ['that names what every object has', JSON.parse('{"properties":{"text":{},"__proto__":{"type":"number"}}}')],
    ['that is none', { properties: 7, required: 'text' }],
  ])('%s is judged or left to the instance, and the command ends', async (_, schema) => {
    const { code, harm } = await under(schema)
    expect(harm).toEqual([])
    expect([0, 1, 2]).toContain(code)
  })

  test('that refuses an input has nothing signed', async () => {
    const { code, err } = await under({ properties: { text: { type: 'string', maxLength: 3 } } })
    expect([code, worth()]).toEqual([2, 0n])
    expect(err).toContain('must have at most 3 characters')
  })
})

describe('an odd answer to what was paid for', () => {
  const token = `jt_${'0a'.repeat(32)}`
  /** An answer whose amount cannot be read, with these members. */
  const odd =
    (members: object): Trick =>
    (scene) =>
      honest(scene.origin, scene.received, (value) => ({
        ...(value as object),
        ...('receipt_id' in (value as object) ? { amount: 5, ...members } : {}),
      }))
  const kept = ({ home }: { home: string }) => {
    const { job_tokens = {} } = JSON.parse(readFileSync(join(home, 'config', 'secrets.json'), 'utf8'))
    return job_tokens
  }
  const buying = (members: object) => {
    hostile.play(odd(members))
    return victim.run(shellWords('buy svc_0123456789abcdef -i text=a --pay x402'), { columns: COLUMNS })
  }

  test('leaves its buyer the token that opens the job, and says which job it is', async () => {
    const ran = await buying({ job_id: JOB, access_token: token })
    expect([ran.code, ran.harm]).toEqual([1, []])
    expect(ran.err).toContain(`it is paid: ${JOB};`)
    expect(ran.err).toContain(`souk jobs view ${JOB}`)
    expect(Object.entries(kept(ran)).find(([name]) => name.endsWith(JOB))).toEqual([`${hostile.url} ${JOB}`, token])
  })

  test.each([
    ['of another form', { job_id: JOB, access_token: 'jt_\r\nX-Evil: 1' }],
    ['of a job that is a path', { job_id: '../../precious', access_token: token }],
    ['of no job', { job_id: undefined, access_token: token }],
  ])('keeps no token %s', async (_, members) => {
    const ran = await buying(members)
    expect([ran.code, ran.harm, kept(ran)]).toEqual([1, [], {}])
    if (members.job_id !== JOB) expect(ran.err).toMatch(/--idempotency-key [0-9a-f-]{36} never pays twice/)
  })
})

describe('paths', () => {
  test.each(['//HOST/x', '/\\HOST/x', '/v1/../..//HOST', '/%2e%2e/x', '//user:pass@HOST/x'])(
    'souk api %s sends no key to another host',
    async (path) => {
      const { host } = new URL(hostile.elsewhere.url)
      const ran = await under('nothing', `api '${path.replace('HOST', host)}'`)
      expect(ran.code).toBe(2)
      expect([hostile.received.length, hostile.elsewhere.received.length]).toEqual([0, 0])
    },
  )

  test.each(['URL/v1/balance', '\\\\HOST\\x'])('souk api %s is no operation, and sends no key', async (words) => {
    const { url } = hostile.elsewhere
    const ran = await under('nothing', `api '${words.replace('URL', url).replace('HOST', new URL(url).host)}'`)
    expect(ran.code).toBe(2)
    expect(hostile.elsewhere.received).toEqual([])
  })

  test('a redirect is not followed, and is named', async () => {
    const { code, err } = await under('a redirect to another host', 'balance show')
    expect([code, hostile.elsewhere.received.length]).toEqual([1, 0])
    expect(err).toContain('redirects to another address')
  })

  test.each([
    ['../../precious.txt', 'ids that are paths, 0'],
    ['its own job', 'an honest answer'],
  ])(
    'a purchase that calls its job %s is saved beside a link, and never through it or in its place',
    async (_, trick) => {
      const { harm, code, out } = await under(trick, 'buy svc_0123456789abcdef -i text=a --save results')
      expect(harm).toEqual([])
      if (code === 0) expect(out).toContain(`results/${JOB}-result.1.json`)
      expect(code).toBe(trick.startsWith('ids') ? 1 : 0)
    },
  )

  test.each(['..', '../../precious', 'a/b', 'C:\\x'])('%s is no job to save', async (id) => {
    const { harm, code } = await under('an honest answer', `jobs view '${id}' --save results`)
    expect(harm).toEqual([])
    expect(code).not.toBe(0)
  })
})

test('foreign text begins no line of its own and colors nothing, on a terminal that shows colors', async () => {
  const ran = await under('poison in every text', 'services list --color always')
  expect(ran.harm).toEqual([])
  expect(ran.out).toContain(MARK)
  expect(ran.out.split('\n').filter((line) => line.startsWith(FAKE_LINE))).toEqual([])
})

describe('patience', () => {
  const answers = ['balance show', `trust feedback ${JOB}`]
  const streams = [
    'export all.ndjson',
    'admin backup all.tar',
    'threads download thr_0123456789abcdef file_0123456789abcdef -o downloads',
  ]

  test.each(Object.keys(waits))('%s ends a command by itself', async (trick) => {
    for (const line of [...answers, ...streams]) {
      const ran = await under(trick, `${line} --yes --timeout 50ms`)
      expect([line, ran.code, ran.harm]).toEqual([line, 10, []])
    }
  })

  const events = (path: string) => path.startsWith('/v1/events')
  const emptyAtOnce: Trick = ({ origin, received }) =>
    honest(origin, received, (value) => (events(received.path) ? { ...(value as object), events: [] } : value))
  const sameForEver: Trick = ({ origin, received }) =>
    honest(origin, received, (value) => (events(received.path) ? { ...(value as object), next_cursor: '1' } : value))
  const unknownCursor: Trick = (scene) =>
    events(scene.received.path) && !scene.received.path.includes('cursor=latest')
      ? { status: 400, body: { error: 'x', code: 'invalid_request', message: 'x', details: [TOO_OLD] } }
      : emptyAtOnce(scene)
  const TOO_OLD = { path: 'cursor', message: 'too old' }

  test.each([
    ['listen', 'empty pages', emptyAtOnce],
    ['listen', 'the same page', sameForEver],
    ['provide svc_0123456789abcdef --exec cat', 'empty pages', emptyAtOnce],
    ['provide svc_0123456789abcdef --exec cat', 'a cursor that is never known', unknownCursor],
  ])('souk %s is not made to spin by %s at once', async (words, _, trick) => {
    const times: number[] = []
    const ctrlC = new AbortController()
    hostile.play((scene) => {
      if (events(scene.received.path)) times.push(performance.now())
      if (times.length === POLLS) ctrlC.abort()
      return trick(scene)
    })
    const { harm } = await victim.run(shellWords(words), { interrupt: ctrlC.signal })
    expect(harm).toEqual([])
    // One pause at least: without any they are sent at once. A slow machine waits longer, never shorter.
    expect((times[POLLS - 1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(PAUSE_MS)
  })

  test('an answer without end is given up', async () => {
    const ran = await under('flood', 'balance show')
    expect([ran.code, ran.err.includes('too large')]).toEqual([1, true])
  })

  test.each([
    ['threads download thr_0123456789abcdef file_0123456789abcdef -o downloads --yes', 'too large'],
    ['export all.ndjson --yes', 'too long'],
  ])('%s does not fill the disk with what has no end', async (line, why) => {
    const ran = await under('flood', line)
    expect([ran.code, ran.harm, ran.err]).toEqual([1, [], expect.stringContaining(why)])
  })
})
