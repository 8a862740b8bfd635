import { describe, expect, test } from 'vitest'
import { runLine } from '../fixtures/kit/command-line.testkit.ts'
import { globalOptions } from '../src/cli/globals.ts'
import { groups } from '../src/cli/run/groups.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { purposes, rootHelp, synonyms } from '../src/cli/run/root-help.ts'
import { entries } from './index.ts'

/* What somebody sees who has only `souk help`. */

const WIDTHS = [60, 80, 100, 120]
const ROOT_LINES_MAX = 45

const help = async (columns: number, ...words: string[]) => {
  const { code, out, err } = await runLine({ entries, groups }, ['help', ...words], { columns, env: {} })
  expect([words, code, err]).toEqual([words, 0, ''])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: - styles take no room
  return out.replaceAll(/\u001B\[[\d;]*m/g, '')
}

describe('souk help', () => {
  test.each(WIDTHS)('is one page at %i columns, with examples', (width) => {
    const lines = rootHelp(width, Object.keys(topics)).split('\n')
    if (width >= 80) expect(lines.length).toBeLessThanOrEqual(ROOT_LINES_MAX)
    expect(lines).toContain('EXAMPLES')
    expect(lines).toContain('MORE')
  })

  test('of a noun shows the command of its list', async () => {
    const lists = entries.filter(({ name, hidden, aliasOf }) => name.endsWith(' list') && !hidden && !aliasOf)
    for (const { name } of lists) {
      const { out } = await runLine({ entries, groups }, [...name.split(' ').slice(0, -1), '--help'])
      expect([name, out]).toEqual([name, expect.stringContaining(`$ souk ${name}\n`)])
    }
    expect(lists.length).toBeGreaterThan(10)
  })

  test('names only commands and nouns that there are', () => {
    const known = [...entries.filter(({ hidden }) => !hidden), ...groups].map(({ name }) => name)
    expect(known).toEqual(expect.arrayContaining(Object.values(purposes).flat()))
  })

  test('lists every command with --all, and every global option under `options`', async () => {
    const all = await help(80, '--all')
    for (const { name, hidden, aliasOf } of entries)
      if (!hidden && !aliasOf) expect(all).toContain(`souk ${name} `.trim())
    for (const { flags, ...option } of globalOptions) {
      if (!('hidden' in option)) expect(topics.options).toContain(flags)
    }
  })

  test.each(Object.entries(synonyms))('souk %s is the same as souk %j', async (word, words) => {
    const named = words.filter((part) => !part.startsWith('-'))
    expect(await help(80, word)).toBe(await help(80, ...named))
  })
})

/** Command lines are typed as they stand: they are never broken. */
const TYPED = /^(Usage: |\s+\$ )|https?:\/\/|^souk |^\s+--[\w-]+ <\S+>$/

describe.each(WIDTHS)('at %i columns no page has a line that the terminal wraps again:', (width) => {
  const tooLong = (page: string) => page.split('\n').filter((line) => line.length > width && !TYPED.test(line))

  test('a line that is too long is found, and a typed one is not', () => {
    const long = 'word '.repeat(width)
    expect(tooLong(`short\n${long}\n  $ souk ${long}`)).toEqual([long])
  })

  test('the program, its topics and the list of all', async () => {
    expect(tooLong(rootHelp(width, Object.keys(topics)))).toEqual([])
    for (const topic of Object.keys(topics)) expect([topic, tooLong(await help(width, topic))]).toEqual([topic, []])
    expect(tooLong(await help(width, '--all'))).toEqual([])
  })

  test('nouns and commands', async () => {
    const pages = [...groups, ...entries.filter(({ aliasOf }) => aliasOf === undefined)]
    const found: string[] = []
    for (const { name } of pages) {
      const page = await help(width, ...name.split(' '))
      expect(page).toContain(`souk ${name}`)
      for (const line of tooLong(page)) found.push(`${name}: ${line}`)
    }
    expect(found).toEqual([])
    expect(pages.length).toBeGreaterThan(200)
  })
})
