import { type Element, elementsOf, type HtmlNode, isHidden, textIn } from '../web/document.ts'

/* Facts from markup alone: elements named by a class, and the elements of a list. */

export const factSources = {
  'json-ld': 0.95,
  microdata: 0.9,
  rdfa: 0.85,
  meta: 0.8,
  table: 0.75,
  label: 0.6,
  class: 0.58,
  heading: 0.55,
  pattern: 0.45,
} as const
export type FactSource = keyof typeof factSources
export type PlainValue = string | number | boolean

/** A value, and the name that the page gives it. */
export type Fact = { readonly path: readonly string[]; readonly value: PlainValue; readonly source: FactSource }

type Card = readonly Fact[]
/** Similar elements, each as a card; `names` are the classes and ids of the list and its items. */
export type CardList = { readonly names: readonly string[]; readonly cards: readonly Card[] }

export const PRICE = /(?:[$€£¥]\s?\d(?:[\d.,]{0,14}\d)?|\d(?:[\d.,]{0,14}\d)?\s?(?:€|EUR|USD|GBP))/g
const MAX_NAMES = 8
const MAX_GROUPS = 40
const MAX_CARDS = 100
const MAX_IN_CARD = 200
const MAX_CLASSED = 5_000
/** Navigation, headers, footers and elements that show nothing. */
const aside: ReadonlySet<string> = new Set(['nav', 'header', 'footer', 'aside', 'script', 'style', 'template', 'head'])

/** Facts from elements whose class occurs only once on the page. */
export function classFacts(root: HtmlNode): Fact[] {
  const byName = new Map<string, Element[]>()
  for (const element of [...shown(root)].slice(0, MAX_CLASSED)) {
    for (const name of namesOf(element)) byName.set(name, [...(byName.get(name) ?? []).slice(0, 1), element])
  }
  return [...byName].flatMap(([name, [first, ...more]]) =>
    first === undefined || more.length > 0 || !isSmall(first) ? [] : [classFact(name, first)],
  )
}

/** Groups of similar sibling elements; each element becomes a card of facts. */
export function cardsOf(root: HtmlNode): CardList[] {
  const groups: CardList[] = []
  for (const parent of shown(root)) {
    for (const alike of alikeIn(parent)) {
      if (groups.length >= MAX_GROUPS) return groups
      const within = alike.slice(0, 1).flatMap(({ children }) => [...alike.slice(0, 1), ...children])
      const names = [parent, ...within].flatMap((node) => [...classesOf(node), node.attribs?.['id'] ?? ''])
      groups.push({ names: names.filter(Boolean), cards: alike.slice(0, MAX_CARDS).map(cardOf) })
    }
  }
  return groups
}

function* shown(root: HtmlNode): Generator<Element> {
  const hiddenWithin = new Set<HtmlNode>()
  for (const element of elementsOf(root, aside)) {
    const isOut = hiddenWithin.has(element) || isHidden(element) || aside.has(element.name)
    if (!isOut) yield element
    else for (const child of element.children) hiddenWithin.add(child)
  }
}

function alikeIn({ children }: Element): Element[][] {
  const groups = new Map<string, Element[]>()
  for (const child of children) {
    const { name, attribs } = child
    if (name === undefined || attribs === undefined || isHidden(child)) continue
    const key = `${name} ${classesOf(child)[0] ?? ''}`
    groups.set(key, [...(groups.get(key) ?? []).slice(0, MAX_CARDS), child as Element])
  }
  return [...groups.values()].filter(
    (alike) => alike.length > 1 && alike.every(({ children: inner }) => inner.length > 0),
  )
}

function cardOf(card: Element): Card {
  const inner = [card, ...shown(card)].slice(0, MAX_IN_CARD)
  const classed = inner.flatMap((element) =>
    isSmall(element) ? namesOf(element).map((name) => classFact(name, element)) : [],
  )
  const heading = inner.find(({ name }) => /^h[1-6]$/.test(name))
  const link = inner.find(({ name, attribs }) => name === 'a' && attribs['href'])
  const image = inner.find(({ name, attribs }) => name === 'img' && attribs['src'])
  const time = inner.find(({ name }) => name === 'time')
  const title = heading ?? link
  const [price, ...prices] = textIn(card).match(PRICE) ?? []
  return [
    ...(title ? [fact('title', textIn(title))] : []),
    ...classed,
    ...inner
      .filter((element) => element.name === 'li' && element !== card)
      .map((line) => fact('features', textIn(line))),
    ...(link ? [fact('url', link.attribs['href'])] : []),
    ...(image ? [fact('image', image.attribs['src'])] : []),
    ...(price !== undefined && prices.length === 0 ? [fact('price', price)] : []),
    ...(time ? [fact('date', time.attribs['datetime'] ?? textIn(time))] : []),
  ].filter(({ value }) => value !== '')
}

function classFact(name: string, element: Element): Fact {
  const { attribs } = element
  return fact(name, attribs['content'] ?? attribs['datetime'] ?? (attribs['src'] || textIn(element)))
}

function fact(name: string, value = ''): Fact {
  return { path: [name], value: value.trim(), source: 'class' }
}

/** Whether an element holds a single value. Larger elements are skipped, since their text would be used twice. */
function isSmall({ children }: Element): boolean {
  return children.every((child) => (child.children ?? []).every(({ children: inner }) => !inner?.length))
}

function classesOf({ attribs }: HtmlNode): string[] {
  return (attribs?.['class'] ?? '').split(/\s+/).filter(Boolean).slice(0, MAX_NAMES)
}

/** Names of an element; `card__price--sale` gives `price`, the BEM element without its variant. */
function namesOf(element: Element): string[] {
  const { itemprop = '', 'data-testid': tested = '' } = element.attribs
  const names = [...classesOf(element), ...itemprop.split(/\s+/), tested]
  return [...new Set(names.map((name) => (name.split('__').at(-1) ?? '').split('--')[0] ?? ''))].filter(Boolean)
}
