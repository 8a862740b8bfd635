import { describe, expect, it } from 'vitest'
import { screenIds } from '../../nouns/screens.ts'
import { bindingOf, bindings, bindingsOn, hintsOn } from '../shell/bindings.ts'
import { keyLabel, keysOf, typed } from './keys.ts'

/** What a row of help has in 80 columns. */
const LABEL_COLUMNS = 18

describe('what arrives at once', () => {
  it.each([
    ['j', {}, ['j']],
    ['jjj', {}, ['j', 'j', 'j']],
    ['5jR', {}, ['5', 'j', 'R']],
    ['ab\r', {}, ['a', 'b', 'enter']],
    ['a\tb\u0012\u007F ', {}, ['a', 'tab', 'b', 'ctrl-r', 'backspace', 'space']],
    ['é😀', {}, ['é', '😀']],
    ['', { upArrow: true }, ['up']],
    ['', { pageDown: true }, ['pagedown']],
    ['', { return: true }, ['enter']],
    ['', { tab: true, shift: true }, ['shift-tab']],
    ['', { tab: true }, ['tab']],
    ['c', { ctrl: true }, ['ctrl-c']],
    [' ', { ctrl: true }, ['ctrl-space']],
    ['G', { shift: true }, ['G']],
    ['P', { meta: true }, ['esc', 'P']],
    ['', { escape: true, meta: true }, ['esc', 'esc']],
    ['', {}, []],
  ] as const)('%j with %o is %j', (input, flags, keys) => {
    expect(keysOf(input, flags)).toEqual(keys)
  })

  it('types characters and nothing else', () => {
    expect(['a', 'space', 'é', 'enter', 'ctrl-r', 'up'].map(typed)).toEqual([
      'a',
      ' ',
      'é',
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('the table of keys', () => {
  const places = screenIds.flatMap((screen) => [false, true].map((readonly) => ({ screen, readonly })))

  it.each(places)('binds no key twice on $screen, read-only $readonly', (where) => {
    const keys = bindingsOn(where).flatMap((binding) => binding.keys)
    expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted())
  })

  it.each(places)('names every action on $screen once, with a key that leads to it', (where) => {
    const bound = bindingsOn(where)
    expect(new Set(bound.map(({ action }) => action)).size).toBe(bound.length)
    for (const binding of bound) for (const key of binding.keys) expect(bindingOf(key, where)).toBe(binding)
  })

  it('names only screens that there are', () => {
    const named = bindings.flatMap(({ on = [], hintOn = [], hintAt = {} }) => [
      ...on,
      ...hintOn,
      ...Object.keys(hintAt),
    ])
    expect(named.filter((screen) => !screenIds.includes(screen))).toEqual([])
  })

  it('has capital letters for what changes data, and only for that', () => {
    const capital = bindings.filter(({ keys }) => keys.some((key) => /^[A-Z]$/.test(key)))
    expect(capital.filter(({ changes, keys }) => !changes && !keys.includes('G') && !keys.includes('N'))).toEqual([])
    // What is written or attached is a message: no state and no money follows it.
    const changing = bindings.filter(({ changes, action }) => changes && action !== 'write' && action !== 'attach')
    for (const { keys } of changing) expect(keys.join('')).toMatch(/^[A-Z]$/)
  })

  it('leaves a read-only cockpit nothing that changes data', () => {
    for (const screen of screenIds) {
      expect(bindingsOn({ screen, readonly: true }).filter(({ changes }) => changes)).toEqual([])
      expect(bindingOf('P', { screen, readonly: true })).toBeUndefined()
    }
  })

  it('needs no key that terminals and multiplexers keep for themselves', () => {
    // ctrl-s arrives: a terminal in raw mode stops nothing.
    const kept = ['ctrl-a', 'ctrl-b', 'ctrl-q']
    expect(bindings.flatMap(({ keys }) => keys).filter((key) => kept.includes(key))).toEqual([])
  })

  it('gives the key row its hints', () => {
    const { left, right } = hintsOn({ screen: 'crons', readonly: false })
    expect(left.map(({ key, word }) => `${key} ${word}`)).toEqual([
      'R run now',
      'Z pause/resume',
      '/ filter',
      's sort',
      '^R refresh',
      ': go or do',
      'z hold',
    ])
    expect(right.map(({ key }) => key)).toEqual(['?', 'q'])
  })

  it('is short enough to be read whole in the help of 80 columns', () => {
    for (const { label } of bindings) expect(label.length).toBeLessThanOrEqual(LABEL_COLUMNS)
    expect(['ctrl-r', 'pageup', 'up', 'j'].map(keyLabel)).toEqual(['^R', 'PgUp', '↑', 'j'])
  })
})
