import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeExamples, mustRun, openExamples, runApart } from '../fixtures/kit/command-stage.ts'
import { eachText } from '../src/cli/answer.ts'
import { createIo, plainSettings } from '../src/cli/io.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import { harmless, widthOf } from '../src/text/text.ts'
import { entries } from './index.ts'

// @slow every list is printed in many widths

/* Every table of every command, with the names that strangers give to things, on terminals of every width. */

beforeAll(openExamples)
afterAll(closeExamples)

const loaded = await Promise.all(
  entries.filter(({ aliasOf, hidden }) => aliasOf === undefined && !hidden).map(({ load }) => load()),
)
const listing = loaded.map(({ command }) => command).filter(({ rows, columns }) => rows && columns)

const NARROWEST = 40
const WIDEST = 200
/** What a program wrote by its rules, and so is no stranger's text. */
const OF_SOUK =
  /^([a-z][a-z0-9_.-]*|[a-z]{1,4}_[0-9a-f]{16}|0x[0-9a-fA-F]+|[+-]?\$?[\d.,]+|\d{4}-\d\d-\d\dT.*|https?:.*|\/.*)$/
/** Members that hold what somebody wrote, whatever it looks like. */
const FREE = /^(name|title|description|reason|summary|message|text|body|pitch|note|notes|comment|service_name)$/

const sign = fc.oneof(
  fc.constantFrom(
    'a',
    ' ',
    '漢',
    '字',
    'ｗ',
    '𠀋',
    '🙂',
    '👩\u200d🚀',
    'e\u0301',
    '\u202e',
    '\u0007',
    '\u001b[31m',
    '\u009b',
    '\n',
    '\t',
    '\ufdd2',
    '|',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
)
const strange = fc.array(sign, { minLength: 1, maxLength: 60 }).map((signs) => signs.join(''))

/** The same data, where strangers wrote what they like. */
function defaced(value: unknown, words: readonly string[]): unknown {
  let at = 0
  const walk = (one: unknown, name: string): unknown => {
    if (typeof one === 'string') {
      if (!FREE.test(name) && OF_SOUK.test(one)) return one
      at += 1
      return words[at % words.length]
    }
    if (Array.isArray(one)) return one.map((member) => walk(member, name))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([member, inner]) => [member, walk(inner, member)]))
  }
  return walk(value, '')
}

function drawn(columns: readonly Column<unknown>[], rows: readonly unknown[], width: number): readonly string[] {
  const parts: string[] = []
  const stdout = { isTTY: true, columns: width, write: (text: string | Uint8Array) => parts.push(String(text)) > 0 }
  const system = { env: { NO_COLOR: '1' }, stdout, stderr: stdout, now: () => Date.parse('2026-11-22T12:00:00Z') }
  printRows(createIo(system as never, { ...plainSettings, times: 'utc' }), columns, rows)
  return parts.join('').split('\n').slice(0, -1)
}

const CUT_ID =
  /(?:^| {2})(?:svc|p|job|thr|msg|file|plan|sub|prod|pur|post|bid|txn|evt|whd|trc|vat|rcp|out|req)_[0-9a-f]{0,15}…/
const CUT_AMOUNT = /(?:^| {2})\$[\d,]*\.?\d*…/
// biome-ignore lint/suspicious/noControlCharactersInRegex: - that none of them is left is what is tested
const ACTS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** Lines that must hold of a table. */
function check(columns: readonly Column<unknown>[], rows: readonly unknown[], width: number): void {
  const lines = drawn(columns, rows, width)
  expect(lines.length).toBe(rows.length === 0 ? 0 : rows.length + 1)
  for (const line of lines) {
    expect(widthOf(line), `${width} columns: ${line}`).toBeLessThanOrEqual(width)
    expect(line).not.toMatch(CUT_ID)
    expect(line).not.toMatch(CUT_AMOUNT)
    expect(line).not.toMatch(ACTS)
  }
}

const seen: string[] = []

test.each(listing.map((command) => [command.name, command] as const))(
  'souk %s fits any terminal',
  async (name, command) => {
    await mustRun('souk up --port 0 --seed house')
    const line =
      command.examples.find((one) => !/--(dry-run|ndjson|tsv|fields)|-q |\|/.test(one)) ?? command.examples[0]
    const { returned } = await runApart(line, name)
    const data = returned.map((one) => one.data).filter((one) => (command.rows?.(one) ?? []).length > 0)
    const columns = command.columns ?? []
    if (data.length > 0) seen.push(name)
    const at = fc.integer({ min: NARROWEST, max: WIDEST })
    for (const one of data.slice(0, 1)) {
      for (const width of [NARROWEST, 60, 80, 120, WIDEST]) check(columns, command.rows?.(one) ?? [], width)
      fc.assert(
        fc.property(at, fc.array(strange, { minLength: 1, maxLength: 6 }), (width, words) => {
          const shown = eachText(defaced(one, words), harmless)
          check(columns, command.rows?.(shown) ?? [], width)
        }),
        { numRuns: 20 },
      )
    }
  },
)

test('most of them had rows to show', () => expect(seen.length).toBeGreaterThan(listing.length / 2))

test('amounts stand with their points in line, whatever their places and whatever stands between', () => {
  const amount = fc
    .tuple(fc.nat(99_999), fc.integer({ min: 2, max: 6 }))
    .map(([whole, places]) => `$${whole}.${'5'.repeat(places)}`)
  const row = fc.record({
    id: fc.constant('job_0123456789abcdef'),
    paid: fc.option(fc.oneof(amount, fc.constant('free'))),
  })
  const columns = [
    { title: 'JOB', value: ({ id }: { id: string }) => id },
    { title: 'PAID', value: ({ paid }: { paid: string | null }) => paid, flexible: true },
    { title: 'END', value: () => 'x' },
  ] as const satisfies readonly Column<never>[]
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 8 }), (rows) => {
      const lines = drawn(columns as never, rows, 60).slice(1)
      const points = lines.map((line) => line.indexOf('.')).filter((at) => at >= 0)
      expect(new Set(points).size).toBeLessThanOrEqual(1)
      expect(new Set(lines.map((line) => line.lastIndexOf('x'))).size).toBe(1)
      for (const { paid } of rows)
        if (paid?.startsWith('$')) expect(lines.some((line) => line.includes(paid))).toBe(true)
    }),
  )
})
