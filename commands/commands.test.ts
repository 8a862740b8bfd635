import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeExamples, mustRun, openExamples, run, runApart } from '../fixtures/kit/command-stage.ts'
import { sampled } from '../fixtures/kit/depth.ts'
import { answerSchemas } from '../src/api/openapi/schemas.ts'
import type { Entry } from '../src/cli/command.ts'
import { exits } from '../src/cli/exit.ts'
import { membersOf } from '../src/cli/option-shape.ts'
import { entries } from './index.ts'

// @slow every example of every command

/* Every command there is: each of its examples against a seeded daemon of its own, and what it says without one. */

beforeAll(openExamples)
afterAll(closeExamples)

/** They end the daemon that the others need. */
const LAST = ['restart', 'down']
/** So do these, or they may. */
const ENDING = [...LAST, 'reset', 'restore', 'tour', 'import', 'store copy']
let isUp = false
/** They bring a daemon up. */
const STARTING = ['up', 'tour', 'start', 'restart', 'daemon serve']
/** Stands for whatever a command wants to be told. */
const SOMETHING = 'something'
/** What is refused alike is tried with one command in so many; the others are the turn of the next commits. */
const ONE_IN = 8
/** What all examples print as JSON is checked in so many commits; each of them gets another part. */
const PRINTS_ONE_IN = 3
/** They draw on a terminal; the tests of the cockpit run them on one. */
const ON_TERMINAL = ['tui']
const apart = [...ON_TERMINAL]
const runnable = entries.filter(({ name, aliasOf }) => aliasOf === undefined && !apart.includes(name))
const examples = (await Promise.all(runnable.map(({ load }) => load())))
  .flatMap(({ command }) => command.examples.map((line) => [line, command.name] as const))
  .sort(([, a], [, b]) => LAST.indexOf(a) - LAST.indexOf(b))

/** Lines that print something else than their data as JSON, on purpose. */
const NOT_JSON = /--(help|tsv|ndjson|jq|yaml)|souk help \w+ \w|-q /
/** What is piped to them is what they are about, or where no file is named; they read until it ends. */
const READING = ['mcp serve', 'wallet import', 'webhooks verify']
/** They print what another command prints. */
const OF_ANOTHER = /^souk as \S+ \w/
/** Names and forms in what they print are the instance's own. */
const OWN_FORMS = ['api', 'openapi']
const STREAMED = [
  'seed traffic',
  'seed load',
  'export',
  'logs',
  'tour',
  'listen',
  'provide',
  'mcp serve',
  'webhooks tail',
]

const schemas = new Ajv2020({ strict: false, allErrors: true, verbose: true, validateFormats: false })
/** By the line that is judged: streams have thousands of parts. */
const compiled = new Map<string, ValidateFunction>()
const endpoints = new Map(
  (await Promise.all(runnable.map(({ load }) => load()))).map(({ command }) => [command.name, command.prints]),
)
const { answers, $defs } = answerSchemas([...new Set([...endpoints.values()].flatMap((name) => name ?? []))])
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** In dollars, as numbers: the contract has them so. */
const NUMBERS_OF_CONTRACT = /(_usd|_pct)$/
const MONEY = /(^|_)(price|amount|fee|paid|spent|cost|balance|available|held|credited|withdrawn|revenue|money)$/

/** What of printed data is not as the contract says, or not in the form that money and times have everywhere. */
function faultsOf(line: string, name: string, data: unknown): string[] {
  if (OF_ANOTHER.test(line)) return []
  const isFiltered = /--fields/.test(line)
  const answer = answers[endpoints.get(name) ?? '']
  // What a command makes of several answers, and what it would have sent, has a form of its own.
  const isOwn = answer === undefined || / --(dry-run|csv)/.test(line)
  const check = compiled.get(line) ?? schemas.compile(isOwn ? {} : { $defs, allOf: [answer] })
  compiled.set(line, check)
  const wrong = isFiltered || check(data) ? [] : (check.errors ?? [])
  return [
    ...wrong.map(
      (one) => `${one.instancePath} ${one.message} ${JSON.stringify(one.params)} ${JSON.stringify(one.data)}`,
    ),
    ...(OWN_FORMS.includes(name) ? [] : oddForms(data, '')),
  ]
}

function oddForms(data: unknown, path: string): string[] {
  if (Array.isArray(data)) return data.flatMap((one, at) => oddForms(one, `${path}.${at}`))
  if (typeof data !== 'object' || data === null) return []
  return Object.entries(data).flatMap(([name, value]) => {
    const place = `${path}.${name}`
    const isFloat = typeof value === 'number' && !Number.isInteger(value)
    if (isFloat && MONEY.test(name) && !NUMBERS_OF_CONTRACT.test(name)) return [`${place} is a float: ${value}`]
    const isTime = typeof value === 'string' && /(^|_)at$/.test(name)
    if (isTime && !TIME.test(value)) return [`${place} is no ISO time: ${value}`]
    // What a service takes and gives is its own.
    return ['input', 'result', 'deliverables', 'input_schema', 'deliverable_schema', 'body'].includes(name)
      ? []
      : oddForms(value, place)
  })
}

/** At a pipe that stays open and that nobody writes to, and nothing says that nobody is there to be asked. */
const UNATTENDED = { silentStdin: true, more: { SOUK_NO_INPUT: '' } } as const
const unattended = (name: string) => (READING.includes(name) ? {} : UNATTENDED)

describe('examples', () => {
  it('of every command there is one whose JSON is checked', () => {
    const checked = new Set(examples.filter(([line]) => !NOT_JSON.test(line)).map(([, name]) => name))
    const isShown = ({ hidden }: Entry) => !hidden
    const unchecked = runnable.filter(isShown).flatMap(({ name }) => (checked.has(name) ? [] : [name]))
    expect(unchecked).toEqual([])
  })

  it.each(examples.filter(([line]) => NOT_JSON.test(line)))('%s', async (line, name) => {
    const { code, err } = await runApart(line, name, unattended(name))
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  })

  // One run shows both: that the data is JSON alone, and what the view makes of the same data.
  const asJson = examples
    .filter(([line]) => !NOT_JSON.test(line))
    .map(([line, name]) => [line.includes('--json') ? line : `${line} --json`, name] as const)
  it.each(sampled([...new Map(asJson)], PRINTS_ONE_IN))('%s', async (line, name) => {
    if (!isUp) await mustRun('souk up --port 0 --seed house')
    isUp = !ENDING.includes(name)
    // Which also makes the view of the same data, and fails where that fails.
    const { code, out, err } = await runApart(line, name, unattended(name))
    // What it finds is the machine's own, such as a full disk or a cron that is late.
    const isFinding = code === exits.check_failed && line.includes('--exit-status')
    expect({ code, err: code === 0 || isFinding ? '' : err }).toEqual({ code: isFinding ? code : 0, err: '' })
    const parts = STREAMED.includes(name) ? out.trimEnd().split('\n').filter(Boolean) : [out]
    for (const part of parts) expect(faultsOf(line, name, JSON.parse(part))).toEqual([])
  })
})

describe('without a terminal, at a pipe that stays open', () => {
  const asking = examples.filter(([line]) => / (--yes|-y)( |$)/.test(line))
  const turns = sampled(asking, ONE_IN)

  it('there are commands that ask', () => expect(asking.length).toBeGreaterThan(20))

  it.each(turns)('%s ends by itself without its --yes, and says what to type', async (line, name) => {
    await mustRun('souk up --port 0 --seed house')
    const unasked = line.replace(/ (--yes|-y)(?= |$)/, '')
    const { code, err } = await runApart(unasked, name, UNATTENDED)
    // What would do nothing, or costs less than anybody is asked about, needs no answer; a file that is there already
    // is told before anybody is asked.
    const needsNone = code === exits.ok || code === exits.conflict
    if (!needsNone) expect({ code, err }).toEqual({ code: exits.usage, err: expect.stringContaining('--yes') })
  })
})

describe('where there is nothing yet: no daemon, no wallet, no settings', () => {
  const empty = { config: 'nothing', more: { SOUK_NO_INPUT: '', SOUK_INSTANCE: 'nothing' } }

  const alone = entries.filter(({ aliasOf, name }) => aliasOf === undefined && !STARTING.includes(name))
  it.each(sampled(alone, ONE_IN))(
    'souk $name --json ends by itself: stdout holds JSON or nothing, stderr one error',
    async ({ name, load }) => {
      const { args } = (await load()).command
      const words = membersOf(args).flatMap(([, shape]) => (shape.required ? [SOMETHING] : []))
      const { code, out, err } = await run(['souk', name, ...words, '--json'].join(' '), empty)
      for (const line of STREAMED.includes(name) ? out.split('\n').filter(Boolean) : [out].filter(Boolean))
        JSON.parse(line)
      if (code === exits.ok || code === exits.check_failed) return
      expect([name, out]).toEqual([name, ''])
      expect(JSON.parse(err)).toMatchObject({
        error: { exit: code, message: expect.not.stringMatching(/not expected/) },
      })
    },
  )

  it('the cockpit says that it needs a terminal', async () => {
    const { code, out, err } = await run('souk tui --json', empty)
    expect([code, out]).toEqual([exits.usage, ''])
    expect(JSON.parse(err).error.message).toMatch(/terminal/)
  })
})

describe('without a daemon', () => {
  const needing = [
    'health',
    'services list',
    'endpoints list',
    'openapi',
    'api /health',
    'wallet fund',
    'services view qr_code',
  ]
  it.each(needing)('souk %s exits 10 and says souk up', async (words) => {
    await run('souk down')
    const { code, out, err } = await run(`souk ${words}`)
    expect([code, out]).toEqual([10, ''])
    expect(err).toContain('→ souk up')
  })

  it('the log is still readable', async () => {
    expect(JSON.parse((await mustRun('souk logs --tail 1 --ndjson')).trim())).toHaveProperty('level')
  })
})
