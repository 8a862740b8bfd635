import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunOptions, runLine } from '../fixtures/kit/command-line.testkit.ts'
import { groups } from '../src/cli/run/groups.ts'
import { topics } from '../src/cli/run/help-topics.ts'
import { entries } from './index.ts'

/* Manual pages: one for whatever can be typed, and such that the formatters of others read them without a word. */

const exec = promisify(execFile)
const has = (program: string) =>
  exec('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  )
const [hasGroff, hasMandoc, hasMan] = await Promise.all([has('groff'), has('mandoc'), has('man')])

let home: string
let folder: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-man-'))
  folder = join(home, 'man1')
  await souk({}, '--dir', folder)
})
afterAll(() => rm(home, { recursive: true, force: true }))

const souk = (options: RunOptions, ...words: string[]) =>
  runLine({ entries, groups }, ['man', ...words], { env: { HOME: home, TMPDIR: home }, ...options })

test('there is a page for the program, each noun, each command and each topic', async () => {
  const shown = entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined).map(({ name }) => name)
  const wanted = [
    'souk.1',
    ...[...shown, ...groups.map(({ name }) => name)].map((name) => `souk-${name.replaceAll(' ', '-')}.1`),
    ...Object.keys(topics).map((name) => `souk-${name}.7`),
  ]
  expect((await readdir(folder)).sort()).toEqual([...new Set(wanted)].sort())
})

test('a page says how the command is typed, with all of its flags and examples', async () => {
  const { out } = await souk({}, 'services', 'list')
  expect(out).toContain('.TH SOUK-SERVICES-LIST 1')
  for (const part of ['\\-\\-min\\-price', '\\-s, \\-\\-search', 'souk services list \\-\\-sort price_asc'])
    expect(out).toContain(part)
})

test('what has no page is answered with what was meant', async () => {
  const { code, err } = await souk({}, 'servces', 'list')
  expect([code, err]).toEqual([2, expect.stringContaining('did you mean services list?')])
})

test('on a terminal man shows it; without man it is printed', async () => {
  const ran: (readonly string[])[] = []
  const foreground = async (words: readonly string[]) => ran.push(words) > 0
  const shown = await souk({ columns: 80, foreground }, 'buy')
  expect([shown.out, ran[0]?.[0], ran[0]?.[1]]).toEqual(['', 'man', expect.stringMatching(/souk-services-buy\.1$/)])
  expect((await souk({ columns: 80 }, 'balance', 'show')).out).toContain('.TH SOUK-BALANCE-SHOW 1')
})

test.skipIf(!hasGroff)('groff reads every page without a warning', async () => {
  const files = (await readdir(folder)).map((file) => join(folder, file))
  const { stderr } = await exec('groff', ['-ww', '-man', '-Tutf8', '-z', ...files])
  expect(stderr).toBe('')
})

test.skipIf(!hasMandoc)('mandoc reads every page without a warning', async () => {
  const files = (await readdir(folder)).map((file) => join(folder, file))
  const { stdout } = await exec('mandoc', ['-Tlint', '-W', 'warning', ...files])
  expect(stdout).toBe('')
})

test.skipIf(!(hasMan && hasGroff))('man shows what was written, to the letter', async () => {
  const env = { ...process.env, MANPAGER: 'cat', MANWIDTH: '200', LC_ALL: 'C.UTF-8' }
  const { stdout } = await exec('man', [join(folder, 'souk-openapi.1')], { env })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: - letters are struck twice to be bold
  const plain = stdout.replaceAll(/.\u0008/g, '')
  expect(plain).toContain("$ souk openapi -q '.info.version'".slice(2))
  const text = await readFile(join(folder, 'souk-formatting.7'), 'utf8')
  expect(text).toContain('.TH SOUK-FORMATTING 7')
})
