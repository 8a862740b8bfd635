import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readKeyFile } from '../cli/files/key-file.ts'
import { rebind } from './rebind.ts'

let config: string

beforeEach(async () => {
  config = await mkdtemp(join(tmpdir(), 'souk-keys-'))
})
afterEach(() => rm(config, { recursive: true, force: true }))

const read = async (text: string) => {
  await writeFile(join(config, 'keys.json'), text)
  return own()
}

/** What the cockpit makes of it. */
async function own() {
  const found = await readKeyFile({ config })
  if (found === undefined) return undefined
  const { keys, faults } = rebind(found.wishes)
  return { keys, faults: [...found.faults, ...faults] }
}

it('without a file the keys are the usual ones', async () => {
  expect(await own()).toBeUndefined()
})

it('each act of the file is on its keys', async () => {
  const found = await read('\uFEFF{\n  "refresh": ["F", "ctrl-f"],\n  "pause": "K"\n}\n')
  expect(found?.faults).toEqual([])
  expect(found?.keys.find(({ action }) => action === 'refresh')?.keys).toEqual(['F', 'ctrl-f'])
  expect(found?.keys.find(({ action }) => action === 'pause')?.keys).toEqual(['K'])
})

it('tells each thing that it leaves out by its line and takes the rest', async () => {
  const found = await read('{\n  "refresh": "F",\n  "nothing": "x",\n\n  "freeze": "q"\n}')
  expect(found?.faults).toEqual([
    { line: 3, words: expect.stringContaining('there is no action "nothing"') },
    { line: 5, words: expect.stringContaining('q of freeze is quit') },
  ])
  expect(found?.keys.find(({ action }) => action === 'refresh')?.keys).toEqual(['F'])
})

it.each([
  ['broken off', '{\n  "refresh": "F",\n  "freeze": [', 3],
  ['the same act twice', '{\n  "refresh": "F",\n  "refresh": "G"\n}', 3],
  ['a list', '["refresh"]', 1],
  ['nothing', '', 1],
  ['endless', `{ "refresh": "${'F'.repeat(70_000)}" }`, 1],
  ['a bomb of links', '{ "refresh": &a ["F"],\n  "freeze": [*a, *a] }', 1],
  ['nested without end', '['.repeat(60_000), 1],
])('a file that is %s stops nothing', async (_, text, line) => {
  const found = await read(text)
  expect(found?.faults.map((one) => one.line)).toEqual([line])
})

it('a file that cannot be read stops nothing', async () => {
  await mkdir(join(config, 'keys.json'))
  const found = await own()
  expect(found?.faults).toEqual([{ line: 1, words: expect.stringContaining('EISDIR') }])
})
