import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUser, type User } from '../../../fixtures/kit/user.ts'
import { readSettings, settingsOf } from '../nouns/services/write.ts'

/* Commands that open an editor: what is wrong is told and opened again, what is given up is kept, and nothing is half done. */

let user: User
let tmp: string
/** What is on the screen of each editor that was opened, and the mode of its file. */
let opened: { text: string; mode: number; words: readonly string[] }[] = []

beforeAll(async () => {
  user = await openUser({ EDITOR: 'ed --plain', SOUK_MAX_PRICE: '5' })
  tmp = mkdtempSync(join(tmpdir(), 'souk-editor-'))
  await user.json('up', '--port', '0', '--seed', 'house')
  await user.register('main', '20')
})
afterAll(async () => {
  await user?.close()
  rmSync(tmp, { recursive: true, force: true })
})

type Edit = (text: string) => string

/** Types a command at a terminal; each editor that it opens does the next of the edits. */
async function edit(words: readonly string[], edits: readonly Edit[], answer = 'y') {
  opened = []
  const foreground = async (program: readonly string[]) => {
    const file = program.at(-1) ?? ''
    const text = readFileSync(file, 'utf8')
    opened.push({ text, mode: statSync(file).mode & 0o777, words: program.slice(0, -1) })
    writeFileSync(file, edits[opened.length - 1]?.(text) ?? text)
    return true
  }
  const env = { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: tmp, EDITOR: 'ed --plain' }
  return user.soukWith({ env, columns: 80, rows: 50, foreground, answer: () => answer }, ...words)
}

const drafts = () => readdirSync(tmp).filter((name) => name.startsWith('souk-draft-'))

test('a listing is written, told what is wrong, and written again', async () => {
  const broken: Edit = (text) => text.replace(/^name: .*$/m, 'name: By hand').replace(/^price: .*$/m, 'price: lots')
  const mended: Edit = (text) => text.replace(/^price: .*$/m, 'price: "2.00"')
  const { code, out, err } = await edit(['services', 'create', '--editor'], [broken, mended])
  expect([code, err]).toEqual([0, expect.stringContaining('price')])
  expect(out).toContain('By hand')
  expect(opened.map(({ mode, words }) => [mode, words])).toEqual([
    [0o600, ['ed', '--plain']],
    [0o600, ['ed', '--plain']],
  ])
  // The second time it opens with what was written, and not with the template.
  expect(opened[1]?.text).toContain('name: By hand')
  expect(drafts()).toEqual([])
})

test('JSON will do as well, and only what was changed is sent', async () => {
  const { id } = (await user.json('services', 'list', '--mine')).services[0]
  const { code } = await edit(['services', 'edit', id, '--editor'], [() => '{"description": "new words"}'])
  expect(code).toBe(0)
  expect(await user.json('services', 'view', id)).toMatchObject({ description: 'new words', name: 'By hand' })
})

test('a draft that is given up is kept, and its place told', async () => {
  const { code, err } = await edit(['services', 'create', '--editor'], [() => 'name: [never'], 'n')
  expect(code).toBe(2)
  const [, file = ''] = /the draft is saved: (\S+)/.exec(err) ?? []
  expect(existsSync(file)).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe('name: [never')
  rmSync(join(file, '..'), { recursive: true })
})

test('nothing written is nothing done', async () => {
  const { code } = await edit(['services', 'create', '--editor'], [() => ''])
  expect([code, drafts()]).toEqual([13, []])
})

test('settings are all kept, or none', async () => {
  const wrong = await edit(['config', 'edit'], [() => 'pay: x402\nmax-pric: "3.00"\n'], 'n')
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean max-price?')])
  expect((await user.json('config', 'get', 'pay')).origin).toBe('default')
  const right = await edit(['config', 'edit'], [(text) => text.replace('# pay: ', 'pay: x402')])
  expect([right.code, right.out]).toEqual([0, expect.stringContaining('pay is x402')])
  expect(await user.json('config', 'get', 'pay')).toMatchObject({ value: 'x402', origin: 'settings' })
  await edit(['config', 'edit'], [(text) => text.replace(/^pay: .*$/m, '')])
  expect((await user.json('config', 'get', 'pay')).origin).toBe('default')
  for (const left of drafts()) rmSync(join(tmp, left), { recursive: true })
})

test('without a terminal nobody is waited for', async () => {
  for (const words of [
    ['config', 'edit'],
    ['services', 'create', '--editor'],
  ]) {
    const { code, err } = await user.souk(...words)
    expect([code, err]).toEqual([2, expect.stringContaining('needs a terminal')])
  }
})

test('the words of a change are read as what was changed', () => {
  const value = fc.oneof(fc.string(), fc.jsonValue(), fc.constantFrom('0.75', 'true', 'null', '{}', '"'))
  const name = fc.stringMatching(/^[a-z_]{1,12}$/)
  fc.assert(
    fc.property(fc.dictionary(name, value), (changes) => {
      expect(readSettings(settingsOf(changes))).toEqual(JSON.parse(JSON.stringify(changes)))
    }),
  )
})
