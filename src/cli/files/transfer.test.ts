import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agreedTarget, tryFolder } from './transfer.ts'

/* The place of what is bought is made and tried before money moves. */

const home = mkdtempSync(join(tmpdir(), 'souk-places-'))
afterAll(() => rmSync(home, { recursive: true }))

type Context = Parameters<typeof agreedTarget>[0]
// All that is asked of a host where nothing stands in the way.
const host = { io: {}, globals: { dryRun: false } } as unknown as Context
const dry: Context = { ...host, globals: { ...host.globals, dryRun: true } }

test('a folder that is not there is made, and nothing is left in it', async () => {
  expect(await agreedTarget(host, join(home, 'got/'), 'book.pdf')).toBe(join(home, 'got/book.pdf'))
  expect(await agreedTarget(host, join(home, 'more/other.pdf'), 'book.pdf')).toBe(join(home, 'more/other.pdf'))
  expect([readdirSync(join(home, 'got')), readdirSync(join(home, 'more'))]).toEqual([[], []])
  expect(statSync(join(home, 'got')).mode & 0o077).toBe(0)
})

test('a dry run makes nothing', async () => {
  await agreedTarget(dry, join(home, 'dry/book.pdf'), 'book.pdf')
  expect(existsSync(join(home, 'dry'))).toBe(false)
})

test('a place that cannot be written is refused by its name before anything is paid', async () => {
  writeFileSync(join(home, 'file'), '')
  const refusal = { exit: 'usage', facts: expect.arrayContaining(['nothing was paid']) }
  for (const folder of [join(home, 'file'), join(home, 'file/in')]) {
    expect(() => tryFolder(host, folder)).toThrow(expect.objectContaining(refusal))
    await expect(agreedTarget(host, join(folder, 'book.pdf'), 'book.pdf')).rejects.toThrow('is not writable')
  }
})

test.skipIf(process.platform !== 'linux')('a folder under /proc is refused at once', () => {
  expect(() => tryFolder(host, '/proc/nope/deeper')).toThrow('The folder /proc/nope/deeper is not writable.')
})
