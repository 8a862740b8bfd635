import { afterEach, describe, expect, it } from 'vitest'
import type { KeyWish } from '../model/cockpit-files.ts'
import { screenIds } from '../nouns/screens.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { rebind } from './rebind.ts'
import { bindings, bindingsOn } from './shell/bindings.ts'

const wish = (act: string, keys: unknown, line = 2): KeyWish => ({ act, keys, line })

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

describe("keys of one's own", () => {
  it('an act is on its new key alone, where it answers, and help, key row and panels say so', async () => {
    const { keys, faults } = rebind([wish('pause', 'K'), wish('help', ['H', 'ctrl-g']), wish('span', 'ctrl-t')])
    expect(faults).toEqual([])
    open = await openOn({ link: market(), keys, columns: 100, rows: 30 })
    const { text, type } = open
    expect(text()).toContain('K pause payments')
    expect(text()).toContain('H help')
    expect(text()).toContain('^T hour/day/week')
    await type('P')
    expect(text()).not.toContain('PAUSE THE PLATFORM')
    await type('H')
    expect(text()).toMatch(/K +pause payments/)
    expect(text()).toMatch(/H \^G +this help/)
    await type('H')
    expect(text()).not.toContain('this help')
  })

  it('what changes data asks on any key', async () => {
    const { keys } = rebind([wish('pause', 'm')])
    open = await openOn({ link: market(), keys })
    await open.type('m')
    expect(open.text()).toContain('PAUSE THE PLATFORM')
    await open.type('\u001B')
    expect(open.link.calls.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('a read-only cockpit has no key for it still', () => {
    const { keys } = rebind([wish('pause', 'm')])
    for (const screen of screenIds) {
      expect(bindingsOn({ screen, readonly: true, keys }).filter(({ changes }) => changes)).toEqual([])
    }
  })

  it('two acts may change places', () => {
    const { keys, faults } = rebind([wish('down', 'k'), wish('up', 'j', 3)])
    expect(faults).toEqual([])
    expect(keys.find(({ action }) => action === 'up')?.keys).toEqual(['j'])
    expect(keys.find(({ action }) => action === 'down')?.keys).toEqual(['k'])
  })

  it.each([
    ['a key that is another act there', wish('refresh', 'q', 4), 'q of refresh is quit ("quit") already'],
    ['an act that nobody knows', wish('refrsh', 'F', 4), 'there is no action "refrsh"; is it refresh?'],
    ['a name that is not a key', wish('refresh', 'F13', 4), '"F13" for refresh is not a key'],
    ['a key that arrives as another', wish('refresh', 'ctrl-i', 4), '"ctrl-i" for refresh arrives as tab'],
    ['a control character', wish('refresh', '\u0007', 4), 'is not a key'],
    ['no key', wish('refresh', [], 4), 'refresh takes a key, or a list'],
    ['too many keys', wish('refresh', [...'abcdef'], 4), 'refresh takes a key, or a list'],
    ['what is no text', wish('refresh', [{ key: 'F' }], 4), 'refresh takes a key, or a list'],
    ['the way out', wish('quitNow', 'F', 4), 'quitNow keeps its key'],
    ['the digits of the tabs', wish('goto', 'F', 4), 'goto keeps its key'],
  ])('%s is told by its line, and all stays as it was', (_, one, words) => {
    const { keys, faults } = rebind([one])
    expect(faults).toEqual([{ line: 4, words: expect.stringContaining(words) }])
    expect(keys).toEqual(bindings)
  })

  it('of two acts on one key the later line gives way, and the act keeps the keys that it had', () => {
    const { keys, faults } = rebind([wish('refresh', 'F', 2), wish('freeze', 'F', 3)])
    expect(faults).toEqual([{ line: 3, words: 'F of freeze is refresh ("fetch now") already; freeze keeps z' }])
    expect(keys.find(({ action }) => action === 'refresh')?.keys).toEqual(['F'])
    expect(keys.find(({ action }) => action === 'freeze')?.keys).toEqual(['z'])
  })

  it('what gives way takes with it what had counted on its old key', () => {
    const { keys, faults } = rebind([wish('freeze', 'q', 2), wish('refresh', 'z', 3)])
    expect(faults.map(({ line }) => line)).toEqual([2, 3])
    expect(keys).toEqual(bindings)
  })

  it('whatever is wished for, no screen has two acts on one key', () => {
    const all = bindings.flatMap(({ action, keys }, i) => {
      const other = bindings[(i * 7 + 3) % bindings.length]
      return [wish(action, other?.keys, i), wish(action, keys, i)]
    })
    const { keys } = rebind(all.filter((_, i) => i % 3 > 0))
    for (const screen of screenIds) {
      const bound = bindingsOn({ screen, readonly: false, keys }).flatMap((one) => one.keys)
      expect(bound.length).toBe(new Set(bound).size)
    }
  })

  it('what was left out is said in the cockpit until esc', async () => {
    open = await openOn({ link: market(), notice: '~/.config/souk/keys.json:3: there is no action "x"' })
    expect(open.text()).toContain('! ~/.config/souk/keys.json:3: there is no action "x"')
    await open.type('\u001B')
    const { text } = open
    await open.until(() => !text().includes('keys.json'))
  })
})
