import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runLine, shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { PROGRAM } from '../fixtures/kit/program.ts'
import { groups } from '../src/cli/run/groups.ts'
import { entries } from './index.ts'

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const tour = /<!-- tour -->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
const lines = tour
  .trim()
  .split('\n')
  .map((line) => line.replace(/\s+#.*$/, ''))

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'souk-readme-'))
})
afterAll(async () => {
  await souk('bin/souk down')
  await rm(home, { recursive: true })
})

/** A line as it is typed, but on a port of its own and with its files in the test's folder. */
function souk(line: string) {
  const [, ...words] = shellWords(line.replace(/ up /, ' up --port 0 ').replace('--save out', `--save ${home}/out`))
  return runLine({ entries, groups }, words, {
    env: { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home },
    self: [process.execPath, PROGRAM],
    now: () => Date.now(),
  })
}

test('the five minutes run as they stand, each command in its turn', async () => {
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) {
    const { code, err } = await souk(line)
    expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' })
  }
})
