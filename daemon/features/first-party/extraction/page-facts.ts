import { isObject, jsonIn } from '../../../../src/core/json.ts'
import { type Block, htmlBlocks, markdownBlocks } from '../docs/blocks.ts'
import { type Element, elementsOf, parseHtml, textIn } from '../web/document.ts'
import { decode, isHtml, type WebPage } from '../web/page.ts'
import { cardsOf, classFacts, type Fact, type PlainValue, PRICE } from './cards.ts'

export type PageTable = { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] }
/** An object in machine-readable data, with the names that lead to it. */
export type Thing = { readonly path: readonly string[]; readonly value: Readonly<Record<string, unknown>> }

export type FoundFacts = ReturnType<typeof factsOf>

const MAX_FACTS = 2_000
const MAX_THINGS = 500
const MAX_TABLES = 50
const MAX_LINKS = 200
const MAX_VALUE_CHARS = 2_000
const MAX_LD_CHARS = 300_000
const MAX_LD_DEPTH = 12
const MAX_LD_NODES = 5_000
const MAX_TEXT_CHARS = 200_000
/** `Weight: 2 kg` */
const LABELLED = /^([^:.?!]{2,60}):\s+(\S[\s\S]*)$/
/** Member names that would change an object's prototype. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

export function factsOf(page: WebPage) {
  const source = decode(page)
  const isPage = isHtml(page) || /^\s*<(!doctype|html)/i.test(source)
  const root = isPage ? parseHtml(source) : undefined
  const elements = root ? [...elementsOf(root)] : []
  const blocks = root ? htmlBlocks(root) : markdownBlocks(source)
  const linked = linkedData(elements)
  const marked = [...microdata(elements), ...metaFacts(elements)]
  const told = [...blocks.flatMap(factsOfBlock), ...listed(blocks), ...picturesOf(elements)]
  const text = blocks.map((block) => ('rows' in block ? block.rows.map((row) => row.join(' ')).join('\n') : block.text))
  const whole = text.join('\n').slice(0, MAX_TEXT_CHARS)
  const title = titleOf(elements)
  const named: Fact[] = title === '' ? [] : [{ path: ['title'], value: title, source: 'pattern' }]
  const classed = root ? classFacts(root) : []
  const facts = [...linked.facts, ...marked, ...told, ...classed, ...patterns(whole), ...named].slice(0, MAX_FACTS)
  const first = (...names: string[]) => names.map((name) => toldAs(facts, name)).find((value) => value !== undefined)
  return {
    facts,
    things: linked.things,
    cards: root ? cardsOf(root) : [],
    tables: blocks.flatMap(tableOf).slice(0, MAX_TABLES),
    links: linksIn(elements, page.url),
    title: first('og:title') ?? (title || (first('heading') ?? null)),
    description: first('og:description', 'description') ?? null,
    type: linked.types[0] ?? first('og:type') ?? null,
    text: whole,
  }
}

function titleOf(elements: readonly Element[]): string {
  const title = elements.find(({ name }) => name === 'title')
  return title ? textIn({ ...title, name: 'span' }) : ''
}

function toldAs(facts: readonly Fact[], name: string): string | undefined {
  const found = facts.find(({ path }) => path.join('.') === name)
  return found === undefined ? undefined : String(found.value)
}

type Linked = { readonly facts: Fact[]; readonly things: Thing[]; readonly types: string[]; nodes: number }

function linkedData(elements: readonly Element[]): Linked {
  const found: Linked = { facts: [], things: [], types: [], nodes: 0 }
  const told: unknown[] = []
  for (const { name, attribs, children } of elements) {
    if (name !== 'script' || !/^application\/ld\+json/i.test(attribs['type'] ?? '')) continue
    const text = children.map(({ data }) => data ?? '').join('')
    if (text.length <= MAX_LD_CHARS) told.push(...graphOf(jsonIn(text)?.value))
  }
  for (const thing of told.toSorted((one, other) => ofSite(one) - ofSite(other))) walk(found, thing, [])
  return found
}

function graphOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(graphOf)
  return isObject(value) && Array.isArray(value['@graph']) ? value['@graph'] : [value]
}

/** 1 for a thing that describes the site instead of what the page is about. */
function ofSite(thing: unknown): number {
  const type = isObject(thing) ? String(thing['@type']) : ''
  return Number(/^(Organization|WebSite|WebPage|BreadcrumbList|ImageObject)$/.test(type))
}

function walk(found: Linked, value: unknown, path: readonly string[]): void {
  found.nodes += 1
  if (found.nodes > MAX_LD_NODES || path.length > MAX_LD_DEPTH) return
  if (Array.isArray(value)) for (const element of value) walk(found, element, path)
  else if (isObject(value)) walkThing(found, value, path)
  else if (['string', 'number', 'boolean'].includes(typeof value) && path.length > 0) {
    put(found.facts, { path, value: value as PlainValue, source: 'json-ld' }) // one of the three
  }
}

function walkThing(found: Linked, value: Readonly<Record<string, unknown>>, path: readonly string[]): void {
  if (typeof value['@type'] === 'string') found.types.push(value['@type'])
  if (path.length > 0 && found.things.length < MAX_THINGS) found.things.push({ path, value })
  for (const [name, inner] of Object.entries(value)) {
    if (!name.startsWith('@') && !forbidden.has(name)) walk(found, inner, [...path, name])
  }
}

function put(facts: Fact[], fact: Fact): void {
  const value = typeof fact.value === 'string' ? fact.value.trim().slice(0, MAX_VALUE_CHARS) : fact.value
  if (value !== '' && facts.length < MAX_FACTS) facts.push({ ...fact, value })
}

function microdata(elements: readonly Element[]): Fact[] {
  const facts: Fact[] = []
  for (const element of elements) {
    const { names, source } = markOf(element)
    for (const name of names) put(facts, { path: [name], value: markedValue(element), source })
  }
  return facts
}

function markOf({ name, attribs }: Element): { names: string[]; source: 'microdata' | 'rdfa' } {
  const { itemprop, property } = attribs
  const isRdfa = itemprop === undefined && name !== 'meta'
  const names = (isRdfa ? (property ?? '') : (itemprop ?? '')).split(/\s+/).map((one) => one.replace(/^.*[:/#]/, ''))
  return { names: names.filter((one) => one !== '' && !forbidden.has(one)), source: isRdfa ? 'rdfa' : 'microdata' }
}

function markedValue(element: Element): string {
  const { content, datetime, href, src, value } = element.attribs
  if (element.attribs['itemscope'] !== undefined) return ''
  return (
    content ?? datetime ?? (element.name === 'a' || element.name === 'link' ? href : src) ?? value ?? textIn(element)
  )
}

function metaFacts(elements: readonly Element[]): Fact[] {
  const facts: Fact[] = []
  for (const { name, attribs } of elements) {
    const key = (attribs['property'] ?? attribs['name'] ?? '').trim().toLowerCase()
    if (name === 'meta' && key !== '' && !forbidden.has(key)) {
      put(facts, { path: [key], value: attribs['content'] ?? '', source: 'meta' })
    }
  }
  return facts
}

/** The page's main picture, whose alternative text equals the main heading. */
function picturesOf(elements: readonly Element[]): Fact[] {
  const heading = elements.find(({ name }) => name === 'h1')
  const title = heading ? textIn(heading) : ''
  const picture = elements.find(
    ({ name, attribs }) => name === 'img' && title !== '' && attribs['alt']?.trim() === title,
  )
  const facts: Fact[] = []
  if (picture) put(facts, { path: ['image'], value: picture.attribs['src'] ?? '', source: 'heading' })
  return facts
}

function factsOfBlock(block: Block): Fact[] {
  const facts: Fact[] = []
  for (const { path, value, source } of toldBy(block)) put(facts, { path, value, source })
  return facts
}

function toldBy(block: Block): Fact[] {
  switch (block.kind) {
    case 'heading':
      return [{ path: [block.level === 1 ? 'heading' : 'subheading'], value: block.text, source: 'heading' }]
    case 'table':
      return block.rows.flatMap(([label = '', value = '', ...more]): Fact[] =>
        label === '' || more.length > 0 ? [] : [{ path: [label], value, source: 'table' }],
      )
    case 'code':
      return []
    default: {
      const [, label = '', value = ''] = LABELLED.exec(block.text) ?? []
      return label === '' ? [] : [{ path: [label], value, source: 'label' }]
    }
  }
}

/** Values of list items, named by the heading or line above the list. */
function listed(blocks: readonly Block[]): Fact[] {
  const facts: Fact[] = []
  let above = ''
  for (const block of blocks) {
    if (block.kind === 'item') {
      if (above !== '') put(facts, { path: [above], value: block.text, source: 'label' })
    } else above = introducedBy(block)
  }
  return facts
}

const MAX_NAME_CHARS = 60

function introducedBy(block: Block): string {
  if (block.kind === 'heading' && block.text.length <= MAX_NAME_CHARS) return block.text
  const isIntroduction = block.kind === 'text' && block.text.length <= MAX_NAME_CHARS && /:\s*$/.test(block.text)
  return isIntroduction ? block.text.replace(/:\s*$/, '') : ''
}

/** The table in a block, if it has a header row. */
function tableOf(block: Block): PageTable[] {
  if (block.kind !== 'table') return []
  const [header = [], ...below] = block.rows
  // Long tables repeat their header at the end.
  const rows = below.filter((row) => row.join('\n') !== header.join('\n'))
  const isWide = header.length > 1 && rows.length > 0 && rows.every((row) => row.length <= header.length)
  return isWide ? [{ header, rows }] : []
}

const shapes = [
  ['email', /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g],
  ['price', PRICE],
  ['phone', /\+\d[\d ()/-]{6,18}\d/g],
  ['date', /\b\d{4}-\d{2}-\d{2}\b/g],
  ['rating', /\b\d(?:[.,]\d{1,2})?(?= out of (?:5|10)\b)|(?<=\brated )\d(?:[.,]\d{1,2})?\b/gi],
  ['reviews', /\b\d[\d.,]{0,14}(?= (?:customer )?(?:reviews|ratings)\b)/gi],
] as const
const MAX_OF_SHAPE = 20

function patterns(text: string): Fact[] {
  const facts: Fact[] = []
  for (const [name, shape] of shapes) {
    for (const [value] of [...text.matchAll(shape)].slice(0, MAX_OF_SHAPE)) {
      put(facts, { path: [name], value, source: 'pattern' })
    }
  }
  return [...facts, ...currencyOf(facts)]
}

/** Currency signs and codes with only one meaning. `$` is left out, because it could mean several currencies. */
const currencies: readonly (readonly [string, RegExp])[] = [
  ['EUR', /€|EUR/],
  ['GBP', /£|GBP/],
  ['USD', /USD/],
]

/** The currency of a page's prices, if all share one. */
function currencyOf(facts: readonly Fact[]): Fact[] {
  const prices = facts.filter(({ path }) => path[0] === 'price').map(({ value }) => String(value))
  const [one] = currencies.filter(([, sign]) => prices.length > 0 && prices.every((price) => sign.test(price)))
  return one ? ['currency', 'priceCurrency'].map((name) => ({ path: [name], value: one[0], source: 'pattern' })) : []
}

function linksIn(elements: readonly Element[], base: string) {
  const links = elements.flatMap((element) => {
    const url = element.name === 'a' ? URL.parse(element.attribs['href'] ?? '', base) : null
    return url && /^https?:$/.test(url.protocol)
      ? [{ text: textIn(element).slice(0, MAX_VALUE_CHARS), url: url.href }]
      : []
  })
  return [...new Map(links.map((link) => [link.url, link])).values()].slice(0, MAX_LINKS)
}
