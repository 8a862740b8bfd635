import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLine } from '../fixtures/kit/command-line.testkit.ts'
import { pricePromises } from '../src/api/price-promises.ts'
import { groups } from '../src/cli/run/groups.ts'
import { delivery } from '../src/nouns/deliveries.ts'
import { job } from '../src/nouns/jobs.ts'
import { act, hold, payee, payout } from '../src/nouns/money.ts'
import { person } from '../src/nouns/people.ts'
import { plan } from '../src/nouns/plans.ts'
import { posting } from '../src/nouns/postings.ts'
import { product } from '../src/nouns/products.ts'
import { service } from '../src/nouns/services.ts'
import { subscription } from '../src/nouns/subscriptions.ts'
import { thread } from '../src/nouns/threads.ts'
import { verification } from '../src/nouns/verifications.ts'
import { entries } from './index.ts'

/* Lines that were meant well, and what is said to them. */

test.each([
  [
    'endpoints --status live',
    "Unknown option '--status'.",
    ['souk endpoints list --status live', 'souk endpoints --help'],
  ],
  [
    'endpoints --status=live',
    "Unknown option '--status=live'.",
    ['souk endpoints list --status=live', 'souk endpoints --help'],
  ],
  ['endpoints --nothing', "Unknown option '--nothing'.", ['souk endpoints --help']],
  ['endpoints lst', "Unknown command 'lst' (did you mean list?).", ['souk endpoints --help']],
  ['endpoints list --statsu live', '(did you mean --status?)', ['souk endpoints list --help']],
  ['endpoints view', 'Missing required argument', ['souk endpoints view --help']],
  [
    'admin platform --reason x',
    "Unknown option '--reason'.",
    ['souk admin platform pause --reason x', 'souk admin platform unpause --reason x', 'souk admin platform --help'],
  ],
  ['balance histroy', 'There is no command "balance histroy" (did you mean history?).', ['souk balance --help']],
  ['balance --page 2', "Unknown option '--page'.", ['souk balance history --page 2', 'souk balance show --help']],
  [
    'services create my.yaml',
    'Too many arguments',
    ['souk services create --file my.yaml', 'souk services create --help'],
  ],
  ['balance show more', 'Too many arguments', ['souk balance show --help']],
  ['--json endpoints --no-such', "Unknown option '--no-such'.", ['souk endpoints --help']],
  ['jobs verify job_0123456789abcdef --rating 9', '--rating must be at most 5; you gave 9.', []],
  ['seed dmeo', '(did you mean demo?)', ['souk seed --help']],
  ['endpints', '(did you mean endpoints?)', ['souk help']],
  ['endpints --help', '(did you mean endpoints?)', ['souk help']],
  ['backup -h', "Unknown command 'backup'.", ['souk admin backup --help', 'souk help']],
  ['--json --help backup', "Unknown command 'backup'.", ['souk admin backup --help', 'souk help']],
  ['dispute', '', ['souk jobs dispute --help', 'souk threads dispute --help', 'souk help']],
  ['help resolve', '', ['souk admin jobs resolve --help', 'souk help']],
  ['help webhook', '(did you mean webhooks?)', ['souk help']],
  ['nonsense', "Unknown command 'nonsense'.", ['souk help']],
  ['endpoints lst --help', '(did you mean list?)', ['souk endpoints --help']],
  ['balance histroy --help', '(did you mean history?)', ['souk balance --help']],
  ['services --limit 5', "Unknown option '--limit'.", ['souk services list --limit 5', 'souk services --help']],
])('souk %s', async (line, sentence, next) => {
  const words = line.split(' ')
  const { code, out, err } = await runLine({ entries, groups }, words)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(sentence)
  if (words.includes('--json')) expect(JSON.parse(err).error.hint).toBe(next[0])
  else expect((err.match(/→ [^→]+/g) ?? []).map((one) => one.slice(2).trim())).toEqual(next)
})

test('the help of a noun is its own behind global options too', async () => {
  const pages = await Promise.all(
    [
      ['services', '--help'],
      ['--json', 'services', '--help'],
    ].map((words) => runLine({ entries, groups }, words)),
  )
  expect(pages[1]?.out).toBe(pages[0]?.out)
  expect(pages[0]?.out).toContain('Usage: souk services')
})

test.each([['plans', 'create', '--example'], ['services', 'create', '--example'], ['status'], ['down']])(
  'souk %s %s %s does nothing as somebody who is not there',
  async (...words) => {
    const home = await mkdtemp(join(tmpdir(), 'souk-nobody-'))
    try {
      const { code, out, err } = await runLine({ entries, groups }, [...words, '--as', 'nobdy'], {
        env: { HOME: home },
      })
      expect([code, out]).toEqual([3, ''])
      expect(err).toMatch(/Wallet "nobdy" is not known[\s\S]*→ souk wallet list\n/)
    } finally {
      await rm(home, { recursive: true })
    }
  },
)

test('souk help payments tells how to say what one pays at most, and how long a price stays good', async () => {
  const { code, out } = await runLine({ entries, groups }, ['help', 'payments'], { env: {}, now: () => 0 })
  expect(code).toBe(0)
  const text = out.replaceAll(/\s+/g, ' ')
  for (const promise of pricePromises) expect(text).toContain(promise)
})

const shownNouns = [delivery, hold, job, payee, payout, person, plan, posting, product, service, subscription, thread]

test.each([...shownNouns, act, verification].map(({ plural, source: [, line] }) => [plural, line]))(
  'an empty list of %s names a command that there is: %s',
  async (_plural, line) => {
    const words = line.split(' ').slice(1)
    const upTo = words.findIndex((word) => /^(?:--|[A-Z]+$)/.test(word))
    const name = upTo === -1 ? words : words.slice(0, upTo)
    const isHelp = name[0] === 'help'
    const { code } = await runLine({ entries, groups }, isHelp ? name : [...name, '--help'])
    expect(code).toBe(0)
  },
)
