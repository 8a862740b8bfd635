import { ownOf } from '../../../../src/core/record.ts'
import { cascadeOf, pxOf, rgb, type Styled } from './style-cascade.ts'
import type { StyleFacts } from './style-facts.ts'

const MAX_LISTED = 60
const MAX_CHARS = 300
const EM_PX = 16
const WHITE = 'rgb(255, 255, 255)'
const sides = ['top', 'right', 'bottom', 'left'] as const
const sideOf: Readonly<Record<string, readonly number[]>> = { top: [0], right: [1, 0], bottom: [2, 0], left: [3, 1, 0] }
const styles = /\b(solid|dashed|dotted|double|groove|ridge|inset|outset)\b/

type Use = readonly [value: string, by: number]

/** Style facts from markup and style sheets alone; less certain than those of a browser. */
export function styleFactsOf(html: string, sheets: readonly string[]): Omit<StyleFacts, 'links'> {
  const { styled, breakpoints, properties } = cascadeOf(html, sheets)
  const most = (of: (one: Styled) => readonly Use[]) => top(styled.flatMap(of))
  const pages = styled.filter(({ element }) => /^(html|body)$/.test(element.name))
  return {
    background: pages.map(backgroundOf).findLast(Boolean) ?? WHITE,
    colors: {
      // Areas are unknown without layout, so the amount of content is used instead.
      background: most((one) => used(backgroundOf(one), one.within + 1)),
      text: most((one) => used(one.color, one.letters)),
      accent: most((one) => used(accentOf(one))),
      border: most((one) => used(borderOf(one))),
    },
    fonts: fontsOf(styled),
    spacings: most((one) => spacingsOf(one).flatMap((px) => used(String(px)))),
    radii: most((one) => used(radiusOf(one))),
    shadows: most((one) => used(shadowOf(one))),
    breakpoints: top(breakpoints.flatMap((width) => used(width))),
    properties: [...properties]
      .slice(0, MAX_LISTED)
      .map(([name, value]) => ({ name: cut(name), value: rgb(value) ?? cut(value) })),
    parts: partsOf(styled),
  }
}

function used(value: string | undefined, by = 1): Use[] {
  return value === undefined || by <= 0 ? [] : [[value, by]]
}

function top(uses: readonly Use[]) {
  const sums = new Map<string, number>()
  for (const [value, by] of uses) sums.set(value, (sums.get(value) ?? 0) + by)
  const most = [...sums].sort((a, b) => b[1] - a[1]).slice(0, MAX_LISTED)
  return most.map(([value, count]) => ({ value: cut(value), count }))
}

function accentOf(one: Styled): string | undefined {
  const kind = kindOf(one)
  if (kind === 'button') return backgroundOf(one) ?? one.color
  return kind === 'link' ? one.color : undefined
}

function shadowOf({ own }: Styled): string | undefined {
  const shadow = own.get('box-shadow')
  return shadow === 'none' ? undefined : shadow
}

const cut = (text: string) => text.slice(0, MAX_CHARS)

function backgroundOf({ own }: Styled): string | undefined {
  const declared = own.get('background-color') ?? own.get('background') ?? ''
  return rgb(declared) ?? words(declared).map(rgb).find(Boolean)
}

/** Splits a value at spaces outside brackets. */
function words(value: string): string[] {
  return value.match(/[^\s()]+\([^()]*\)|[^\s()]+/g) ?? []
}

function borderOf({ own, color }: Styled): string | undefined {
  const short = own.get('border') ?? own.get('border-top') ?? ''
  if (!styles.test(short) && !styles.test(own.get('border-style') ?? '')) return undefined
  return rgb(own.get('border-color') ?? '') ?? words(short).map(rgb).find(Boolean) ?? color
}

function spacingsOf({ own, font }: Styled): number[] {
  const of = (property: string, side: (typeof sides)[number]) => {
    const short = words(own.get(property) ?? '')
    const longhand = own.get(`${property}-${side}`)
    return (
      longhand ??
      ownOf(sideOf, side)
        ?.map((at) => short[at])
        .find((one) => one !== undefined)
    )
  }
  const all = [
    of('padding', 'top'),
    of('padding', 'left'),
    of('margin', 'top'),
    of('margin', 'bottom'),
    own.get('row-gap') ?? words(own.get('gap') ?? '')[0],
  ]
  return all.flatMap((text) => {
    const px = text === undefined ? undefined : pxOf(text, font.sizePx)
    return px === undefined || px <= 0 ? [] : [Math.round(px)]
  })
}

function radiusOf({ own, font }: Styled): string | undefined {
  const [first] = words(own.get('border-radius') ?? own.get('border-top-left-radius') ?? '')
  if (first?.endsWith('%')) return first
  const px = first === undefined ? undefined : pxOf(first, font.sizePx)
  return px === undefined || px <= 0 ? undefined : `${px}px`
}

/** Component kind by name and shape, as in `style-facts.ts`; undefined if the element is not a component. */
function kindOf(one: Styled): string | undefined {
  const { name, attribs } = one.element
  const { role, class: classes = '' } = attribs
  if (name === 'button' || role === 'button' || /(^|[ _-])(btn|button)([ _-]|$)/i.test(classes)) return 'button'
  if (name === 'a') return 'link'
  if (/^(input|textarea|select)$/.test(name)) return 'input'
  if (name === 'nav' || role === 'navigation') return 'nav'
  if (name === 'table') return 'table'
  if (/(^|[ _-])(badge|tag|chip|pill)([ _-]|$)/i.test(classes)) return 'badge'
  const isShaped =
    one.own.get('box-shadow') !== undefined || (borderOf(one) !== undefined && radiusOf(one) !== undefined)
  return /^(article|section|div|li)$/.test(name) && isShaped ? 'card' : undefined
}

function partsOf(styled: readonly Styled[]): StyleFacts['parts'] {
  const parts = new Map<string, StyleFacts['parts'][number]>()
  for (const one of styled) {
    const kind = kindOf(one)
    if (kind === undefined) continue
    const known = parts.get(kind)
    parts.set(
      kind,
      known ? { ...known, count: known.count + 1 } : { kind, count: 1, sample_html: startOf(one), css: cssOf(one) },
    )
  }
  return [...parts.values()]
}

/** The opening tag. */
function startOf({ element: { name, attribs } }: Styled): string {
  const written = Object.entries(attribs).map(([member, value]) => ` ${member}="${value.replaceAll('"', '&quot;')}"`)
  return cut(`<${name}${written.join('')}>`)
}

function cssOf(one: Styled): Record<string, string> {
  const { own, color, font } = one
  return {
    color,
    background: backgroundOf(one) ?? 'rgba(0, 0, 0, 0)',
    padding: cut(own.get('padding') ?? '0px'),
    border: cut(own.get('border') ?? 'none'),
    'border-radius': radiusOf(one) ?? '0px',
    font: cut(`${font.sizePx}px ${font.stack}`),
    'font-weight': font.weight,
    'box-shadow': cut(own.get('box-shadow') ?? 'none'),
  }
}

function fontsOf(styled: readonly Styled[]): StyleFacts['fonts'] {
  const seen = styled.filter(({ letters }) => letters > 0)
  const groups = Map.groupBy(seen, ({ font }) => Object.values(font).join('|'))
  const fonts = [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { stack, sizePx, weight, lineHeight } = first.font
    const tags = [...new Set(group.map(({ element }) => element.name))].slice(0, MAX_TAGS)
    const chars = group.reduce((sum, { letters }) => sum + letters, 0)
    return [{ stack: cut(stack), size_px: sizePx, weight, line_height: lineOf(lineHeight, sizePx), chars, tags }]
  })
  return fonts.sort((a, b) => b.chars - a.chars).slice(0, MAX_LISTED)
}

const MAX_TAGS = 10

/** Line height in pixels, as a browser computes it. */
function lineOf(text: string, sizePx: number): string {
  const px = /^[\d.]+$/.test(text) ? Number(text) * sizePx : pxOf(text, sizePx)
  return px === undefined ? text : `${Math.round(px * EM_PX) / EM_PX}px`
}
