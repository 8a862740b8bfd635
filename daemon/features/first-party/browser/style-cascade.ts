import { colord, extend } from 'colord'
import names from 'colord/plugins/names'
import type { Atrule, CssNode, Rule, Selector, WalkContext } from 'css-tree'
import generate from 'css-tree/generator'
import parse from 'css-tree/parser'
import walk from 'css-tree/walker'
import { ownOf } from '../../../../src/core/record.ts'
import { screens } from '../../../ports/browser/browser.ts'
import { type Element, type HtmlNode, isElement, openHtml } from '../web/html.ts'

type Declared = { readonly property: string; readonly value: string; readonly isImportant: boolean }
type StyleRule = {
  readonly selector: string
  /** The rule with the higher value wins; of rules with equal values, the later one. */
  readonly specificity: number
  readonly declared: readonly Declared[]
}
type StyleSheet = { readonly rules: readonly StyleRule[]; readonly breakpoints: readonly string[] }

const MAX_RULES = 5_000
const MAX_DECLARED = 100
const MAX_VALUE_CHARS = 300
const NAMES_A_CLASS = 100
const EM_PX = 16
/** Selectors for states and pseudo-elements; rules with them are skipped. */
const STATES = /::|:(?:hover|focus|active|visited|target|checked|disabled|before|after|invalid|valid|open|autofill)|&/
const WIDTH = /(min|max)-width\s*:\s*(\d+(?:\.\d+)?)(px|r?em)/g

/** Reads the rules that apply to a wide screen without interaction. Invalid parts are skipped, as browsers do. */
function readSheet(css: string): StyleSheet {
  const rules: StyleRule[] = []
  const breakpoints: string[] = []
  const sheet = parse(css, { positions: false, parseCustomProperty: false })
  walk(sheet, function (this: WalkContext, node: CssNode) {
    if (node.type === 'Atrule' && node.name === 'media') breakpoints.push(...breakpointsOf(mediaOf(node)))
    if (node.type !== 'Rule' || rules.length >= MAX_RULES || !isShown(this.atrule)) return
    rules.push(...rulesOf(node))
  })
  return { rules, breakpoints }
}

/** Declarations of a `style` attribute. */
function readDeclarations(css: string): Declared[] {
  return declaredIn(parse(css, { context: 'declarationList', positions: false, parseCustomProperty: false }))
}

function rulesOf({ prelude, block }: Rule): StyleRule[] {
  const declared = declaredIn(block)
  if (prelude.type !== 'SelectorList' || declared.length === 0) return []
  return prelude.children.toArray().flatMap((one) => {
    const selector = generate(one)
    if (one.type !== 'Selector' || STATES.test(selector)) return []
    return [{ selector: selector.replaceAll(':root', 'html'), specificity: specificityOf(one), declared }]
  })
}

function declaredIn(block: CssNode): Declared[] {
  const declared: Declared[] = []
  walk(block, {
    enter(node: CssNode) {
      if (node.type === 'Rule' && node !== block) return walk.skip
      if (node.type !== 'Declaration' || declared.length >= MAX_DECLARED) return undefined
      const { property, important } = node
      const value = generate(node.value).trim().slice(0, MAX_VALUE_CHARS)
      declared.push({
        property: property.startsWith('--') ? property : property.toLowerCase(),
        value,
        isImportant: important !== false,
      })
      return undefined
    },
  })
  return declared
}

function specificityOf(selector: Selector): number {
  const count = { ids: 0, classes: 0, names: 0 }
  walk(selector, (node) => {
    if (node.type === 'IdSelector') count.ids += 1
    else if (/^(ClassSelector|AttributeSelector|PseudoClassSelector)$/.test(node.type)) count.classes += 1
    else if (node.type === 'TypeSelector' && node.name !== '*') count.names += 1
  })
  return (count.ids * NAMES_A_CLASS + count.classes) * NAMES_A_CLASS + count.names
}

function mediaOf({ prelude }: Atrule): string {
  return prelude ? generate(prelude) : ''
}

function breakpointsOf(media: string): string[] {
  return [...media.matchAll(WIDTH)].map(([, , width, unit]) => `${width}${unit}`)
}

/** Whether an at-rule applies to a desktop screen with a light scheme. */
function isShown(rule: Atrule | null): boolean {
  if (!rule) return true
  if (rule.name !== 'media') return rule.name === 'supports' || rule.name === 'layer' || rule.name === 'container'
  const media = mediaOf(rule)
  if (/\bprint\b|\bnot\b|prefers-color-scheme\s*:\s*dark|prefers-contrast|forced-colors|prefers-reduced/.test(media))
    return false
  return [...media.matchAll(WIDTH)].every(([, bound, width, unit]) => {
    const px = Number(width) * (unit === 'px' ? 1 : EM_PX)
    return bound === 'min' ? screens.desktop.width >= px : screens.desktop.width <= px
  })
}

extend([names])

/** Styles of an element, declared and inherited. */
export type Styled = {
  readonly element: Element
  readonly isUnseen: boolean
  /** Characters of the element's own text; `within` includes its descendants. */
  readonly letters: number
  readonly within: number
  readonly color: string
  readonly font: {
    readonly stack: string
    readonly sizePx: number
    readonly weight: string
    readonly lineHeight: string
  }
  /** Declared values by property. References to custom properties are already resolved. */
  readonly own: ReadonlyMap<string, string>
}

const MAX_ELEMENTS = 3_000
/** Limit of elements × selectors, since matching one selector on one element takes about a microsecond. */
const MAX_LOOKS = 4_000_000
const MAX_REFERENCES = 5
const INLINE = 1_000_000
const IMPORTANT = 10_000_000
const unseen = new Set('head script style template noscript title meta link svg iframe object'.split(' '))
/** Browser defaults. */
const headings: Readonly<Record<string, number>> = { h1: 2, h2: 1.5, h3: 1.17, h4: 1, h5: 0.83, h6: 0.67 }
const bold = /^(h[1-6]|b|strong|th)$/
const LINK = 'rgb(0, 0, 238)'
const POINTS = 4 / 3
const weights: Readonly<Record<string, string>> = { normal: '400', bold: '700' }
const root = { color: 'rgb(0, 0, 0)', font: { stack: 'serif', sizePx: EM_PX, weight: '400', lineHeight: 'normal' } }

export type Cascade = {
  readonly styled: readonly Styled[]
  readonly breakpoints: readonly string[]
  readonly properties: ReadonlyMap<string, string>
}

/** Applies style sheets to a page; layout is not computed. */
export function cascadeOf(html: string, sheets: readonly string[]): Cascade {
  const page = openHtml(html)
  const read = [...page.find('style').map(textOf), ...sheets].map(readable)
  const rules = read.flatMap((sheet) => sheet.rules)
  const given = declaredFor(page, rules)
  const properties = new Map([...given.values()].flatMap((own) => [...own].filter(([name]) => name.startsWith('--'))))
  return {
    styled: walked(page.root, given, properties),
    breakpoints: read.flatMap((sheet) => sheet.breakpoints),
    properties,
  }
}

/** A style sheet that is nested too deeply to parse counts as empty. */
function readable(css: string): StyleSheet {
  try {
    return readSheet(css)
  } catch (error) {
    if (error instanceof RangeError) return { rules: [], breakpoints: [] }
    throw error
  }
}

type Page = ReturnType<typeof openHtml>
type Given = ReadonlyMap<HtmlNode, ReadonlyMap<string, string>>

/** For each element and property, the declared value that wins the cascade. */
function declaredFor(page: Page, rules: readonly StyleRule[]): Given {
  const weighed = new Map<HtmlNode, Map<string, { value: string; weight: number }>>()
  const tell = (node: HtmlNode, declared: readonly Declared[], weight: number) => {
    const known = weighed.get(node) ?? new Map<string, { value: string; weight: number }>()
    for (const { property, value, isImportant } of declared) {
      const own = weight + (isImportant ? IMPORTANT : 0)
      if (own >= (known.get(property)?.weight ?? 0)) known.set(property, { value, weight: own })
    }
    weighed.set(node, known)
  }
  const most = Math.floor(MAX_LOOKS / Math.max(1, page.find('*').length))
  for (const { selector, specificity, declared } of rules.slice(0, most)) {
    for (const node of page.find(selector)) tell(node, declared, specificity)
  }
  for (const node of page.find('[style]')) tell(node, readDeclarations(node.attribs['style'] ?? ''), INLINE)
  return new Map(
    [...weighed].map(([node, known]) => [node, new Map([...known].map(([property, { value }]) => [property, value]))]),
  )
}

type Inherited = Pick<Styled, 'color' | 'font'>

function walked(document: HtmlNode, given: Given, properties: ReadonlyMap<string, string>): Styled[] {
  const styled: Styled[] = []
  const stack: { node: HtmlNode; from: Inherited }[] = [{ node: document, from: root }]
  for (let next = stack.pop(); next && styled.length < MAX_ELEMENTS; next = stack.pop()) {
    const { node, from } = next
    const one = isElement(node) ? styledOf(node, { given, properties, from }) : undefined
    if (one?.isUnseen) continue
    if (one) styled.push(one)
    stack.push(...childrenOf(node).map((child) => ({ node: child, from: one ?? from })))
  }
  return styled
}

/** Children in reverse order, because a stack returns the last one first. */
function childrenOf({ children = [] }: HtmlNode): HtmlNode[] {
  return [...children].reverse()
}

type Around = { readonly given: Given; readonly properties: ReadonlyMap<string, string>; readonly from: Inherited }

function styledOf(element: Element, { given, properties, from }: Around): Styled {
  const own = new Map([...(given.get(element) ?? [])].map(([name, value]) => [name, resolved(value, properties)]))
  const within = textOf(element).trim().length
  const isUnseen = unseen.has(element.name) || own.get('display') === 'none' || own.get('visibility') === 'hidden'
  return { element, own, isUnseen, ...inherited(element, own, from), letters: lettersOf(element), within }
}

function lettersOf({ children = [] }: HtmlNode): number {
  return children.reduce((sum, { type, data = '' }) => sum + (type === 'text' ? data.trim().length : 0), 0)
}

function textOf(node: HtmlNode): string {
  const parts: string[] = []
  const stack: HtmlNode[] = [node]
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (next.type === 'text') parts.push(next.data ?? '')
    stack.push(...childrenOf(next))
  }
  return parts.join('')
}

function resolved(value: string, properties: ReadonlyMap<string, string>): string {
  let text = value
  for (let turn = 0; turn < MAX_REFERENCES && text.includes('var('); turn += 1) {
    text = text.replace(
      /var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)/g,
      (_, name, other = '') => properties.get(name) ?? other,
    )
  }
  return text.trim()
}

function inherited({ name }: Element, own: ReadonlyMap<string, string>, from: Inherited): Inherited {
  const short = fontOf(own.get('font') ?? '')
  const told = (property: string, other: string | undefined) => own.get(property) ?? other
  const size = told('font-size', short?.size)
  const factor = ownOf(headings, name)
  const usual = factor === undefined ? from.font.sizePx : factor * EM_PX
  const weight = told('font-weight', short?.weight) ?? (bold.test(name) ? 'bold' : from.font.weight)
  const usualColor = name === 'a' ? LINK : from.color
  return {
    color: rgb(own.get('color') ?? '') ?? usualColor,
    font: {
      stack: told('font-family', short?.stack) ?? from.font.stack,
      sizePx: (size === undefined ? undefined : pxOf(size, from.font.sizePx)) ?? usual,
      weight: ownOf(weights, weight) ?? weight,
      lineHeight: told('line-height', short?.lineHeight) ?? from.font.lineHeight,
    },
  }
}

const FONT = /^(.*?)\b(\d[\d.]*(?:px|r?em|pt|%))(?:\s*\/\s*([\d.]+(?:px|r?em|pt|%)?|normal))?\s+(\S.*)$/

/** Parses the font shorthand; undefined for a system font or an invalid value. */
function fontOf(text: string) {
  const [, before = '', size, lineHeight = 'normal', stack] = FONT.exec(text) ?? []
  if (size === undefined || stack === undefined) return undefined
  return { size, lineHeight, stack, weight: /\b(bold|[1-9]00)\b/.exec(before)?.[1] ?? 'normal' }
}

/** A colour in computed form, such as `rgb(0, 0, 238)`; undefined if invalid or transparent. */
export function rgb(text: string): string | undefined {
  const color = colord(text.trim())
  return color.isValid() && color.alpha() > 0 ? color.toRgbString() : undefined
}

/** Pixels of a length; undefined if it depends on layout. */
export function pxOf(text: string, emPx: number): number | undefined {
  const [, digits, unit] = /^(-?\d*\.?\d+)(px|rem|em|pt|%)?$/.exec(text.trim()) ?? []
  const factors: Readonly<Record<string, number>> = { px: 1, rem: EM_PX, em: emPx, pt: POINTS, '%': emPx / 100 }
  if (digits === undefined || (unit === undefined && Number(digits) !== 0)) return undefined
  return Number(digits) * (factors[unit ?? 'px'] ?? 1)
}
