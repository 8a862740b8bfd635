import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandIndex } from '../bin/command-index.ts'
import { closeExamples, mustRun, openExamples, run, runApart } from '../fixtures/kit/command-stage.ts'
import { exits } from '../src/cli/exit.ts'
import { globalOptions } from '../src/cli/globals.ts'
import { groups } from '../src/cli/run/groups.ts'
import { membersOf } from '../src/cli/run/schema.ts'
import { kebab } from '../src/text/text.ts'
import { schemasIn } from './help.ts'
import { entries } from './index.ts'
import { definitions, heldBack, outputs } from './outputs.ts'

/* Every command there is: its help, its refusals, and each of its examples against a seeded daemon of its own. */

beforeAll(openExamples)
afterAll(closeExamples)

describe('the list of commands', () => {
  it('is what the files say; `npm run commands` writes it anew', async () => {
    const written = await commandIndex()
    const lists = readdirSync(join(import.meta.dirname, 'entries')).map((file) => `entries/${file}`)
    expect(['index.ts', ...lists].toSorted()).toEqual([...written.keys()].toSorted())
    for (const [file, text] of written) expect(readFileSync(join(import.meta.dirname, file), 'utf8')).toBe(text)
  })

  it('has a text for every noun, and no noun without a command', () => {
    const nouns = entries
      .filter(({ hidden }) => !hidden)
      .flatMap(({ name }) => name.split(' ').map((_, at, words) => words.slice(0, at).join(' ')))
      .filter((noun) => noun !== '')
    expect([...new Set(nouns)].sort()).toEqual(groups.map(({ name }) => name).sort())
  })

  it('keeps the letters of flags apart', async () => {
    const taken = globalOptions.flatMap(({ flags }) => /^-(\w),/.exec(flags)?.[1] ?? [])
    expect(new Set(taken).size).toBe(taken.length)
    for (const { load } of entries) {
      const letters = membersOf((await load()).command.options).flatMap(([, { short }]) => short ?? [])
      expect(new Set(letters).size).toBe(letters.length)
    }
  })
})

describe.each(entries.map((entry) => [entry.name, entry] as const))('souk %s', (name, entry) => {
  it('explains itself, with a word on each flag', async () => {
    const { command } = await entry.load()
    const { code, out, err } = await run(`souk ${name} --help`)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Usage: souk ${name}`)
    for (const example of command.examples) expect(out).toContain(`$ ${example}`)
    for (const [key, shape] of [...membersOf(command.args), ...membersOf(command.options)]) {
      expect(shape.summary, kebab(key)).not.toBe('')
    }
  })

  it('refuses an unknown flag with exit 2 and an empty stdout', async () => {
    const { code, out, err } = await run(`souk ${name} --no-such-flag`)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('no-such-flag')
  })

  it('tells that as one JSON object under --json', async () => {
    const { out, err } = await run(`souk ${name} --no-such-flag --json`)
    expect(out).toBe('')
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'usage', exit: 2 } })
  })
})

/** They end the daemon that the others need. */
const LAST = ['restart', 'down']
/** They draw on a terminal; the tests of the cockpit run them on one. */
const ON_TERMINAL = ['tui']
const apart = [...ON_TERMINAL]
const runnable = entries.filter(({ name, aliasOf }) => aliasOf === undefined && !apart.includes(name))
const examples = (await Promise.all(runnable.map(({ load }) => load())))
  .flatMap(({ command }) => command.examples.map((line) => [line, command.name] as const))
  .sort(([, a], [, b]) => LAST.indexOf(a) - LAST.indexOf(b))

/** Lines that print something else than their data as JSON, on purpose. */
const NOT_JSON = /--(help|tsv|ndjson|jq|yaml)|help |-q /
/** What they print is what somebody else makes of it: any JSON. */
const ANY_JSON = ['api', 'openapi', 'logs', 'mcp serve']
/** They print what another command prints, or a file as it is. */
const OF_ANOTHER = /^souk (as \S+ \w|export --all )/
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
const $defs = schemasIn(definitions)
const printed = schemasIn(outputs)
const [dryRun] = Object.values(schemasIn(heldBack))
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** In dollars, as numbers: the contract has them so. */
const NUMBERS_OF_CONTRACT = /(_usd|_pct)$/
const MONEY = /(^|_)(price|amount|fee|paid|spent|cost|balance|available|held|credited|withdrawn|revenue|money)$/

/** What of printed data is not as `help --json` says, or not in the form that money and times have everywhere. */
function faultsOf(line: string, name: string, data: unknown): string[] {
  if (OF_ANOTHER.test(line)) return []
  const isFiltered = /--fields/.test(line)
  const shown = printed[name] ?? false
  const schema = line.includes('--dry-run') ? { anyOf: [dryRun, shown] } : shown
  const check = schemas.compile({ $defs, allOf: [schema] })
  const wrong = isFiltered || check(data) ? [] : (check.errors ?? [])
  return [
    ...wrong.map(
      (one) => `${one.instancePath} ${one.message} ${JSON.stringify(one.params)} ${JSON.stringify(one.data)}`,
    ),
    ...(ANY_JSON.includes(name) ? [] : oddForms(data, '')),
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

describe('examples', () => {
  it.each(examples.filter(([line]) => NOT_JSON.test(line)))('%s', async (line, name) => {
    const { code, err } = await runApart(line, name)
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  })

  // One run shows both: that the data is JSON alone, and what the view makes of the same data.
  it.each(examples.filter(([line]) => !NOT_JSON.test(line)))('%s', async (line, name) => {
    await mustRun('souk up --port 0 --seed house')
    // Which also makes the view of the same data, and fails where that fails.
    const { code, out, err } = await runApart(line.includes('--json') ? line : `${line} --json`, name)
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
    const parts = STREAMED.includes(name) ? out.trimEnd().split('\n').filter(Boolean) : [out]
    for (const part of parts) expect(faultsOf(line, name, JSON.parse(part))).toEqual([])
  })
})

describe('without a terminal, at a pipe that stays open', () => {
  const asking = examples.filter(([line]) => / (--yes|-y)( |$)/.test(line))

  it('there are commands that ask', () => expect(asking.length).toBeGreaterThan(20))

  it.each(asking)('%s ends by itself without its --yes, and says what to type', async (line, name) => {
    await mustRun('souk up --port 0 --seed house')
    const unasked = line.replace(/ (--yes|-y)(?= |$)/, '')
    const { code, err } = await runApart(unasked, name, { silentStdin: true, more: { SOUK_NO_INPUT: '' } })
    // What would do nothing, or costs less than anybody is asked about, needs no answer; a file that is there already
    // is told before anybody is asked.
    const needsNone = code === exits.ok || code === exits.conflict
    if (!needsNone) expect({ code, err }).toEqual({ code: exits.usage, err: expect.stringContaining('--yes') })
  })
})

describe('help --json', () => {
  it('has a schema of what each command prints that says more than that it is JSON', async () => {
    const { commands, $defs } = JSON.parse(await mustRun('souk help --json'))
    expect(commands.length).toBeGreaterThan(100)
    for (const { name, output } of commands) {
      if (!ANY_JSON.includes(name)) expect([name, Object.keys(output)]).not.toEqual([name, []])
      expect(() => new Ajv2020({ strict: false, validateFormats: false }).compile({ ...output, $defs })).not.toThrow()
    }
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
