import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from './folder.ts'

const home = mkdtempSync(join(tmpdir(), 'souk-folder-'))
afterAll(() => rmSync(home, { recursive: true }))

test('a folder is made with those above it, for its owner alone, and may be there already', () => {
  const path = join(home, 'a/b/c')
  expect([makeFolder(path), makeFolder(path), makeFolder(`${path}/`)]).toEqual([path, path, `${path}/`])
  expect([path, join(home, 'a')].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700])
  symlinkSync(path, join(home, 'link'))
  expect(statSync(makeFolder(join(home, 'link/d'))).isDirectory()).toBe(true)
})

test('a file in the way is named, whatever lies below it', () => {
  const file = join(home, 'file')
  writeFileSync(file, '')
  for (const path of [file, join(file, 'x/y')]) {
    expect(() => makeFolder(path)).toThrow(expect.objectContaining({ code: 'EEXIST', path: file }))
  }
})

test.skipIf(process.platform !== 'linux')('under /proc it ends with the folder that cannot be made', () => {
  expect(() => makeFolder('/proc/nope/deeper')).toThrow(expect.objectContaining({ code: 'ENOENT', path: '/proc/nope' }))
  expect(() => mkdirSync('/proc/nope')).toThrow('ENOENT')
})
