import { z } from 'zod'

const MAX_ELEMENTS = 3_000
const MAX_LISTED = 60
const MAX_CHARS = 300

/** `on`: the colour that most of a text's letters stand on. */
const Use = z.object({ value: z.string().max(MAX_CHARS), count: z.number(), on: z.string().max(MAX_CHARS).optional() })
const Font = z.object({
  stack: z.string().max(MAX_CHARS),
  size_px: z.number(),
  weight: z.string(),
  line_height: z.string(),
  chars: z.number(),
  tags: z.array(z.string()).max(MAX_LISTED),
})
const Part = z.object({
  kind: z.string(),
  count: z.number(),
  /** Colours of the first one's text and of what it stands on; empty without text. */
  ink: z.string().max(MAX_CHARS),
  on: z.string().max(MAX_CHARS),
  css: z.record(z.string(), z.string().max(MAX_CHARS)),
  sample_html: z.string().max(MAX_CHARS),
})
const uses = z.array(Use).max(MAX_LISTED)

/** Visible style of one page; unused rules do not count. */
export const StyleFacts = z.object({
  background: z.string(),
  /** What is counted: area for backgrounds, characters for text, elements for accents and borders. */
  colors: z.object({ background: uses, text: uses, accent: uses, border: uses }),
  fonts: z.array(Font).max(MAX_LISTED),
  spacings: uses,
  radii: uses,
  shadows: uses,
  breakpoints: uses,
  properties: z.array(z.object({ name: z.string().max(MAX_CHARS), value: z.string().max(MAX_CHARS) })).max(MAX_LISTED),
  parts: z.array(Part).max(MAX_LISTED),
  links: z.array(z.string()).max(MAX_LISTED),
})
export type StyleFacts = z.output<typeof StyleFacts>

/** Script for an isolated world that reads the computed styles of visible elements; `over` mixes in translucent ones. */
export const STYLE_FACTS = `(() => {
  const cut = (text) => String(text).slice(0, ${MAX_CHARS})
  const top = (map) => [...map].sort((a, b) => b[1] - a[1]).slice(0, ${MAX_LISTED}).map(([value, count]) => ({ value: cut(value), count: Math.round(count) }))
  const add = (map, key, by) => { if (by > 0) map.set(key, (map.get(key) || 0) + by) }
  const clear = (color) => /^rgba.*, 0\\)$/.test(color)
  const channels = (color) => (color.match(/[\\d.]+/g) || []).map(Number)
  const over = (color, under) => { const [r, g, b, a] = channels(color), below = channels(under); return /^rgba/.test(color) ? 'rgb(' + [r, g, b].map((part, at) => Math.round(part * a + below[at] * (1 - a))).join(', ') + ')' : color }
  const known = new Map()
  const ground = (element) => { if (!element) return 'rgb(255, 255, 255)'; if (!known.has(element)) known.set(element, over(getComputedStyle(element).backgroundColor, ground(element.parentElement))); return known.get(element) }
  const maps = { background: new Map(), text: new Map(), accent: new Map(), border: new Map(), spacing: new Map(), radius: new Map(), shadow: new Map(), breakpoint: new Map(), ground: new Map() }
  const fonts = new Map(), parts = new Map(), properties = []
  const kindOf = (element, style) => {
    const tag = element.tagName.toLowerCase(), role = element.getAttribute('role')
    if (tag === 'button' || role === 'button' || /(^|[ _-])(btn|button)([ _-]|$)/i.test(element.className)) return 'button'
    if (tag === 'a') return 'link'
    if (/^(input|textarea|select)$/.test(tag)) return 'input'
    if (tag === 'nav' || role === 'navigation') return 'nav'
    if (tag === 'table') return 'table'
    if (/(^|[ _-])(badge|tag|chip|pill)([ _-]|$)/i.test(element.className)) return 'badge'
    if (/^(article|section|div|li)$/.test(tag) && (style.boxShadow !== 'none' || (parseFloat(style.borderTopWidth) > 0 && parseFloat(style.borderTopLeftRadius) > 0))) return 'card'
    return undefined
  }
  for (const element of [...document.querySelectorAll('body, body *')].slice(0, ${MAX_ELEMENTS})) {
    const box = element.getBoundingClientRect()
    const style = getComputedStyle(element)
    if (box.width === 0 || box.height === 0 || style.visibility !== 'visible' || style.opacity === '0') continue
    const letters = [...element.childNodes].reduce((sum, node) => sum + (node.nodeType === 3 ? node.data.trim().length : 0), 0)
    const kind = kindOf(element, style)
    const on = ground(element), ink = over(style.color, on)
    if (!clear(style.backgroundColor)) add(maps.background, on, box.width * box.height)
    add(maps.text, ink, letters)
    if (letters > 0) add(maps.ground, ink + '|' + on, letters)
    if (kind === 'button') add(maps.accent, clear(style.backgroundColor) ? ink : on, 1)
    if (kind === 'link') add(maps.accent, ink, 1)
    for (const side of ['Top', 'Bottom', 'Left']) if (parseFloat(style['border' + side + 'Width']) > 0 && style['border' + side + 'Style'] !== 'none') add(maps.border, over(style['border' + side + 'Color'], on), 1)
    for (const side of [style.paddingTop, style.paddingLeft, style.marginTop, style.marginBottom, style.rowGap]) if (parseFloat(side) > 0) add(maps.spacing, String(Math.round(parseFloat(side))), 1)
    if (parseFloat(style.borderTopLeftRadius) > 0) add(maps.radius, style.borderTopLeftRadius, 1)
    if (style.boxShadow !== 'none') add(maps.shadow, style.boxShadow, 1)
    if (letters > 0) {
      const key = [style.fontFamily, style.fontSize, style.fontWeight, style.lineHeight].join('|')
      const font = fonts.get(key) || { stack: cut(style.fontFamily), size_px: parseFloat(style.fontSize), weight: style.fontWeight, line_height: style.lineHeight, chars: 0, tags: [] }
      font.chars += letters
      const tag = element.tagName.toLowerCase()
      if (!font.tags.includes(tag) && font.tags.length < 10) font.tags.push(tag)
      fonts.set(key, font)
    }
    if (kind) {
      // The first one with text stands for all.
      const part = parts.get(kind) || { count: 0 }
      const count = part.count + 1
      parts.set(kind, part.ink || (part.kind && letters === 0) ? { ...part, count } : { kind, count, ...(letters > 0 ? { ink, on } : { ink: '', on: '' }), sample_html: cut(element.outerHTML), css: { color: style.color, background: style.backgroundColor, padding: style.padding, border: cut(style.border), 'border-radius': style.borderRadius, font: cut(style.fontSize + ' ' + style.fontFamily), 'font-weight': style.fontWeight, 'box-shadow': cut(style.boxShadow) } })
    }
  }
  const root = getComputedStyle(document.documentElement)
  const read = (rules) => {
    for (const rule of rules) {
      if (rule.media) for (const [, width] of rule.media.mediaText.matchAll(/(?:min|max)-width:\\s*(\\d+(?:\\.\\d+)?(?:px|r?em))/g)) add(maps.breakpoint, width, 1)
      if (rule.style) for (const name of rule.style) if (name.startsWith('--') && properties.length < ${MAX_LISTED} && !properties.some((known) => known.name === name)) properties.push({ name: cut(name), value: cut(root.getPropertyValue(name).trim()) })
      if (rule.cssRules && rule.cssRules.length) read(rule.cssRules)
    }
  }
  for (const sheet of document.styleSheets) try { read(sheet.cssRules) } catch {}
  const grounds = [...maps.ground].sort((a, b) => a[1] - b[1]).map(([key]) => key.split('|'))
  const onMost = new Map(grounds)
  const stood = (uses) => uses.map((use) => ({ ...use, on: onMost.get(use.value) }))
  const links = [...document.links].map(({ href }) => href.replace(/#.*/, '')).filter((href) => href.startsWith(location.origin + '/') && href !== location.href.replace(/#.*/, ''))
  return {
    background: ground(document.body),
    colors: { background: top(maps.background), text: stood(top(maps.text)), accent: stood(top(maps.accent)), border: top(maps.border) },
    fonts: [...fonts.values()].sort((a, b) => b.chars - a.chars).slice(0, ${MAX_LISTED}),
    spacings: top(maps.spacing), radii: top(maps.radius), shadows: top(maps.shadow), breakpoints: top(maps.breakpoint),
    properties, parts: [...parts.values()], links: [...new Set(links)].filter((href) => href.length < 2000).slice(0, ${MAX_LISTED}),
  }
})()`
