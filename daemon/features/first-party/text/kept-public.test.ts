import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import markdownIt from 'markdown-it'
import { expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { OUTSIDE } from '../../../../fixtures/outside/load.ts'
import { segmentsOf } from '../../../ports/translation/segments.ts'

// @deep reads every README of the packages that tests work with

/* Code, listings and addresses of public texts, as markdown-it reads them: a translation must keep them. */

const readmes = readdirSync(OUTSIDE)
  .flatMap((name) => (name.startsWith('@') ? readdirSync(join(OUTSIDE, name)).map((each) => join(name, each)) : [name]))
  .flatMap((name) => {
    try {
      return [readFileSync(join(OUTSIDE, name, 'README.md'), 'utf8').replaceAll('\r\n', '\n')]
    } catch {
      return []
    }
  })

type Kept = { readonly kind: string; readonly text: string }
type Token = { type: string; content: string; children: Token[] | null; attrGet(name: string): string | null }

function keptIn(tokens: readonly Token[]): Kept[] {
  return tokens.flatMap((token) => {
    const inner = keptIn(token.children ?? [])
    if (token.type === 'code_inline' || token.type === 'fence')
      return [{ kind: token.type, text: token.content }, ...inner]
    const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : ''
    return href.startsWith('http') ? [{ kind: 'address', text: href }, ...inner] : inner
  })
}

/** The worst translator: each letter becomes another. */
const translated = (text: string) =>
  segmentsOf(text)
    .map((part) => (part.isKept ? part.text : part.text.replace(/\p{L}/gu, 'ж')))
    .join('')

it('code, listings and addresses of public texts are left alone, and their words are translated', () => {
  expect(readmes.length).toBeGreaterThan(200)
  const reader = markdownIt({ html: true })
  const all = readmes.flatMap((text) => {
    const out = translated(text)
    return keptIn(reader.parse(text, {}) as Token[]).map((one) => ({ ...one, isKept: out.includes(one.text) }))
  })
  const share = (kind: string) => {
    const of = all.filter((one) => one.kind === kind)
    return of.filter(({ isKept }) => isKept).length / of.length
  }
  const letters = (text: string) => text.replace(/\P{L}/gu, '').length
  const whole = readmes.join('').length
  const prose = readmes.reduce((sum, text) => sum + (translated(text).match(/ж/g)?.length ?? 0), 0)
  const figures = {
    texts: readmes.length,
    parts: all.length,
    code: share('code_inline'),
    listings: share('fence'),
    addresses: share('address'),
    'letters translated': prose / letters(readmes.join('')),
  }
  told('translation, parts of public texts that are kept', figures)
  expect(whole).toBeGreaterThan(500_000)
  expect(figures.code).toBeGreaterThanOrEqual(0.99)
  expect(figures.listings).toBeGreaterThanOrEqual(0.985)
  expect(figures.addresses).toBeGreaterThanOrEqual(0.999)
  expect(figures['letters translated']).toBeGreaterThan(0.2)
})
