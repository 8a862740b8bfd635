import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { PROGRAM } from '../fixtures/kit/program.ts'

/* The built program, started in each way that people start it: what it suggests can be pasted into the same shell. */

const ROOT = join(import.meta.dirname, '..')
const home = mkdtempSync(join(tmpdir(), 'souk-started-'))
afterAll(() => rmSync(home, { recursive: true }))
const bin = join(home, 'bin')
mkdirSync(bin)
symlinkSync(PROGRAM, join(bin, 'souk'))

/** A line in a shell, in a folder. @returns what was suggested where no daemon runs */
function suggestedBy(line: string, cwd: string): Promise<string> {
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter)
  const env = { HOME: home, TMPDIR: home, PATH: line.startsWith('souk') ? `${bin}${delimiter}${path}` : path }
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd, env }, (_, _out, err) => resolve(/→ (.+)/.exec(err)?.[1] ?? err))
  })
}

test.each([
  ['souk services list', home, 'souk up'],
  ['./souk services list', bin, './souk up'],
  ['bin/souk services list', home, 'bin/souk up'],
  ['node dist/souk.js services list', ROOT, 'node dist/souk.js up'],
  [`node '${PROGRAM}' services list --instance two`, home, `node ${PROGRAM} up --instance two`],
  ['bin/souk services list', ROOT, 'bin/souk up'],
  [`'${ROOT}/bin/souk' services list`, home, `${ROOT}/bin/souk up`],
  ['npx souk services list', ROOT, 'npx souk up'],
])('%s suggests what starts the same program', async (line, folder, suggested) => {
  expect(await suggestedBy(line, folder)).toBe(suggested)
})
