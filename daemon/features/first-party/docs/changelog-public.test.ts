import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { OUTSIDE, PEERS } from '../../../../fixtures/outside/load.ts'
import { isMarkedBreaking, kindOf } from './change-kinds.ts'
import { type ChangelogEntry, entriesOf } from './changelog-entries.ts'

// @deep reads every changelog of the packages that tests work with

/* Public changelogs: what a reader marked in five of them, and what their authors marked in all of them. */

const folders: Readonly<Record<string, string>> = { outside: OUTSIDE, peers: PEERS }

function logOf(path: string): ChangelogEntry[] {
  const headers = { 'content-type': 'text/markdown' }
  const fetched = { url: '', status: 200, headers, redirects: [], at: 0, truncated: false }
  return entriesOf({ ...fetched, body: readFileSync(path) }).entries
}

/** Each line of a log, the heading above it, and as what it is reported. */
function linesOf(log: ChangelogEntry[]) {
  const newest = log.findLastIndex(({ lines, sections }) =>
    lines.some((line, at) => isMarkedBreaking(line, sections[at] ?? '')),
  )
  return log.flatMap(({ version, lines, sections }, index) =>
    lines.map((line, at) => {
      const section = sections[at] ?? ''
      const kind = kindOf(line, section, index <= newest)
      const found = kind === 'fix' || kind === 'addition' ? undefined : kind
      return { version, line: line.replace(/[`*]/g, ''), section, found }
    }),
  )
}

type Mark = { readonly must: readonly string[]; readonly may: readonly string[]; readonly oldest?: string }
type Marks = Readonly<Record<string, Mark>>
const marks: Marks = JSON.parse(readFileSync('fixtures/evaluation/changelog-marks.json', 'utf8'))

it('what a reader of five logs marked, before any answer was seen, is found, and little else', () => {
  const judged = Object.entries(marks).flatMap(([file, { must, may, oldest }]) => {
    const [folder = '', ...path] = file.split('/')
    const log = logOf(join(folders[folder] ?? '', ...path))
    const read = oldest === undefined ? log : log.slice(0, log.findIndex(({ version }) => version === oldest) + 1)
    const all = linesOf(read)
    const has = (texts: readonly string[]) => (line: string) => texts.some((text) => line.includes(text))
    for (const text of must)
      expect([file, text, all.some(({ line }) => line.includes(text))]).toEqual([file, text, true])
    return all
      .filter(({ line }) => !has(may)(line))
      .map(({ line, found }) => ({ file, line, found, wanted: has(must)(line) }))
  })
  const wanted = judged.filter((one) => one.wanted)
  const found = judged.filter((one) => one.found !== undefined)
  const right = found.filter((one) => one.wanted)
  const recall = right.length / wanted.length
  const precision = right.length / found.length
  told('api_changelog_actions, five logs marked by hand', {
    lines: judged.length,
    marked: wanted.length,
    recall,
    precision,
  })
  expect(recall).toBeGreaterThanOrEqual(0.9)
  expect(precision).toBeGreaterThanOrEqual(0.9)
})

describe('of every log of the packages that tests work with', () => {
  const logs = Object.values(folders).flatMap((folder) =>
    packagesOf(folder).flatMap((at) =>
      readdirSync(at).flatMap((name) => (/^(?:changelog|changes|history)\.md$/i.test(name) ? [join(at, name)] : [])),
    ),
  )
  const seen = new Set<string>()
  const lines = logs.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    if (seen.has(text)) return []
    seen.add(text)
    return linesOf(logOf(path))
  })
  const share = (of: typeof lines, is: (one: (typeof lines)[number]) => boolean) => of.filter(is).length / of.length

  it('what authors call breaking is found', () => {
    const loud = lines.filter(({ line }) => /^\W*BREAKING\b/.test(line))
    const recall = share(loud, ({ found }) => found !== undefined)
    told(`api_changelog_actions, lines of ${seen.size} logs that begin with BREAKING`, { lines: loud.length, recall })
    expect(loud.length).toBeGreaterThan(100)
    expect(recall).toBeGreaterThanOrEqual(0.98)
  })

  it('what authors call a fix or a chore is hardly ever a removal', () => {
    const quiet = lines.filter(
      ({ line, section }) =>
        /\b(?:fix(?:es|ed)?|chores?|documentation|docs|tests?)\b/i.test(section) &&
        !/break|remov|deprec/i.test(section + line),
    )
    const named = lines.filter(({ line }) =>
      /^\W*(?:\[?(?:fix|chore|docs|tests?|meta|dev deps|refactor)\]?|bump)\b/i.test(line),
    )
    const figures = {
      lines: quiet.length + named.length,
      share: share([...quiet, ...named], ({ found }) => found === 'removal'),
    }
    told('api_changelog_actions, fixes and chores taken for a removal', figures)
    expect(figures.lines).toBeGreaterThan(1_000)
    expect(figures.share).toBeLessThanOrEqual(0.005)
  })
})

/** Folders of packages, those of a scope included. */
function packagesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(({ name }) => {
    if (name.startsWith('.')) return []
    if (!name.startsWith('@')) return [join(folder, name)]
    return readdirSync(join(folder, name)).map((each) => join(folder, name, each))
  })
}
