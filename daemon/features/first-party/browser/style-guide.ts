import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import type { BrowserPage } from '../../../ports/browser/page.ts'
import { WebError } from '../../../ports/web/error.ts'
import { checkAddress, MAX_PAGES } from '../docs/pages.ts'
import { AUTOMATED_MS, defineService, type JsonInput, textOf } from '../service/service.ts'
import { contrastOf, distanceOf, hexOf, type Rgb, rgbOf } from './colors.ts'
import { type BrowserCtx, engineOf, loadedOk, onPage } from './opened.ts'
import { STYLE_FACTS, StyleFacts } from './style-facts.ts'

/** OKLab distance below which colours look the same. */
const SAME_COLOR = 0.03
/** Largest difference of the channels of a grey, bluish ones included. */
const GREY_SPREAD = 0.12
const MAX_COLORS = 24
const MAX_FONTS = 16
const MAX_STEPS = 12
const roles = ['background', 'text', 'accent', 'border'] as const
type Role = (typeof roles)[number]

/** Describes a site's visible style, as a browser computes it. */
export const styleGuide = defineService({
  slug: 'style_guide',
  needs: ['browser'],
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('site_url'),
  read: seenPages,
  make(input, { pages, facts, engine, at }): Json {
    const site_url = textOf(input, 'site_url').trim()
    const guide = guideOf(facts)
    // Fails, so that the buyer is refunded.
    if (guide.typography.length === 0) throw new AppError('provider_failed', 'The page shows no text to describe.')
    return {
      site_url,
      pages: [...pages],
      ...guide,
      tokens: tokensOf(guide),
      markdown: markdownOf(site_url, guide),
      not_checked: [...undecided],
      checked_at: new Date(at).toISOString(),
      engine: { ...engine },
    }
  },
})

const undecided = [
  'hover, focus and dark mode',
  'content that appears after clicks',
  'pages other than the listed ones',
]

function seenPages(input: JsonInput, ctx: BrowserCtx) {
  return onPage(ctx, { input, field: 'site_url', screen: 'desktop' }, async (page, { final_url }) => {
    const first = await page.evaluate(STYLE_FACTS, StyleFacts)
    const seen = [{ url: final_url, facts: first }]
    for (const url of first.links) {
      if (seen.length === MAX_PAGES) break
      const facts = await factsOfFurther(page, url)
      if (facts) seen.push({ url, facts })
    }
    return {
      pages: seen.map(({ url }) => url),
      facts: seen.map(({ facts }) => facts),
      at: ctx.now(),
      engine: engineOf(ctx),
    }
  })
}

/** Style facts of a linked page; undefined if the page is unavailable. */
async function factsOfFurther(page: BrowserPage, url: string): Promise<StyleFacts | undefined> {
  try {
    await loadedOk(page, url)
    return await page.evaluate(STYLE_FACTS, StyleFacts)
  } catch (error) {
    if (error instanceof WebError || error instanceof AppError) return undefined
    throw error
  }
}

type Guide = ReturnType<typeof guideOf>

function guideOf(facts: readonly StyleFacts[]) {
  const background = rgbOf(facts[0]?.background ?? '') ?? [1, 1, 1]
  const properties = facts.flatMap((one) => one.properties)
  return {
    colors: roles
      .flatMap((role) => colorsOf(facts, role, background))
      .slice(0, MAX_COLORS)
      .map(named(properties)),
    typography: typographyOf(facts),
    spacing: spacingOf(summed(facts.map(({ spacings }) => spacings))),
    radii: commonest(facts.map(({ radii }) => radii)),
    shadows: commonest(facts.map(({ shadows }) => shadows)),
    breakpoints: commonest(facts.map(({ breakpoints }) => breakpoints)),
    components: componentsOf(facts),
  }
}

type Use = StyleFacts['spacings'][number]

function commonest(lists: readonly (readonly Use[])[]): string[] {
  const uses = summed(lists).slice(0, MAX_STEPS)
  return uses.map(({ value }) => value)
}

/** Adds up the counts of several pages by value, most common value first. */
function summed(lists: readonly (readonly Use[])[]): Use[] {
  const sums = new Map<string, Use>()
  for (const use of lists.flat()) sums.set(use.value, { ...use, count: (sums.get(use.value)?.count ?? 0) + use.count })
  return [...sums.values()].sort((a, b) => b.count - a.count)
}

/** Merges colours that look the same into the most common one. */
function colorsOf(facts: readonly StyleFacts[], role: Role, background: Rgb) {
  const uses = summed(facts.map(({ colors }) => colors[role]))
  const clusters: { color: Rgb; count: number; on: Rgb }[] = []
  for (const { value, count, on = '' } of uses) {
    const color = rgbOf(value)
    if (!color) continue
    const near = clusters.find((cluster) => distanceOf(cluster.color, color) < SAME_COLOR)
    if (near) near.count += count
    else clusters.push({ color, count, on: rgbOf(on) ?? background })
  }
  // Links in the grey of the text are no accent.
  const vivid = clusters.filter(
    ({ color }) => role === 'accent' && Math.max(...color) - Math.min(...color) > GREY_SPREAD,
  )
  const kept = vivid.length > 0 ? vivid : clusters
  const whole = kept.reduce((sum, { count }) => sum + count, 0)
  return kept.slice(0, MAX_COLORS / roles.length).map(({ color, count, on }) => ({
    hex: hexOf(color),
    role,
    share: Math.round((100 * count) / whole) / 100,
    contrast_on_background: contrastOf(color, on),
  }))
}

/** A whole value that is an opaque colour, unlike a gradient or a shade. */
const OPAQUE = /^rgb\([^/%]*\)$/

function named(properties: StyleFacts['properties']) {
  const hexes = properties.map(({ name, value }) => {
    const own = OPAQUE.test(value.trim()) ? rgbOf(value) : undefined
    const hex = value
      .trim()
      .toLowerCase()
      .replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')
    return { name, hex: own ? hexOf(own) : hex }
  })
  return <T extends { hex: string }>(color: T) => {
    const property = hexes.find(({ hex }) => hex === color.hex)
    return property ? { ...color, custom_property: property.name } : color
  }
}

function typographyOf(facts: readonly StyleFacts[]) {
  const all = facts.flatMap(({ fonts }) => fonts)
  const whole = all.reduce((sum, { chars }) => sum + chars, 0)
  const byKey = Map.groupBy(all, (font) => [font.stack, font.size_px, font.weight, font.line_height].join('|'))
  return [...byKey.values()]
    .map((group) => ({
      family: (group[0]?.stack.split(',')[0] ?? '').trim().replaceAll(/["']/g, ''),
      stack: group[0]?.stack ?? '',
      size_px: group[0]?.size_px ?? 0,
      weight: group[0]?.weight ?? '',
      line_height: group[0]?.line_height ?? '',
      used_for: [...new Set(group.flatMap(({ tags }) => tags))],
      share: Math.round((100 * group.reduce((sum, { chars }) => sum + chars, 0)) / whole) / 100,
    }))
    .sort((a, b) => b.size_px - a.size_px || b.share - a.share)
    .slice(0, MAX_FONTS)
}

const UNITS = [8, 5, 4, 3, 2] as const
const MOST = 0.75

/** The spacing scale; its unit is the largest length that divides most distances, null if there is none. */
function spacingOf(uses: readonly Use[]) {
  const whole = uses.reduce((sum, { count }) => sum + count, 0)
  const fits = (unit: number) =>
    uses.filter(({ value }) => Number(value) % unit === 0).reduce((sum, { count }) => sum + count, 0)
  const unit_px = UNITS.find((unit) => whole > 0 && fits(unit) >= whole * MOST) ?? null
  const steps = uses.slice(0, MAX_STEPS).map(({ value }) => Number(value))
  return { unit_px, steps: steps.sort((a, b) => a - b) }
}

function componentsOf(facts: readonly StyleFacts[]) {
  const byKind = Map.groupBy(
    facts.flatMap(({ parts }) => parts),
    ({ kind }) => kind,
  )
  return [...byKind.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { ink, on, ...shown } = first
    const [text, ground] = [rgbOf(ink), rgbOf(on)]
    const contrast = text && ground ? { contrast: contrastOf(text, ground) } : {}
    return [{ ...shown, count: group.reduce((sum, { count }) => sum + count, 0), ...contrast }]
  })
}

/** Design tokens in the W3C community group's format. */
function tokensOf({ colors, typography, radii, spacing }: Guide): Json {
  const numbered = <T>(list: readonly T[], token: (item: T) => Json) =>
    Object.fromEntries(list.map((item, at) => [String(at + 1), token(item)]))
  const color = Object.fromEntries(
    roles.map((role) => [
      role,
      numbered(
        colors.filter((one) => one.role === role),
        ({ hex }) => ({ $type: 'color', $value: hex }),
      ),
    ]),
  )
  const font = numbered(typography, ({ stack, size_px, weight, line_height }) => ({
    $type: 'typography',
    $value: { fontFamily: stack, fontSize: `${size_px}px`, fontWeight: weight, lineHeight: line_height },
  }))
  const dimension = (value: string): Json => ({ $type: 'dimension', $value: value })
  return {
    color,
    font,
    radius: numbered(radii, dimension),
    space: numbered(spacing.steps, (px) => dimension(`${px}px`)),
  }
}

function markdownOf(site: string, guide: Guide): string {
  const { colors, typography, spacing, radii, shadows, breakpoints, components } = guide
  const cell = (text: string) => text.replaceAll(/[|\n`]/g, ' ').trim()
  const listed = (values: readonly string[]) => values.map(cell).join(', ') || 'none'
  return [
    `# Style guide of ${cell(site)}`,
    '## Colours\n\n| Colour | Role | Share | Contrast on the background | Property |\n|---|---|---|---|---|',
    ...colors.map((one) => {
      const property = 'custom_property' in one ? cell(String(one.custom_property)) : ''
      return `| ${one.hex} | ${one.role} | ${one.share} | ${one.contrast_on_background} | ${property} |`
    }),
    '\n## Type\n\n| Family | Size | Weight | Line height | Used for |\n|---|---|---|---|---|',
    ...typography.map(
      (one) =>
        `| ${cell(one.family)} | ${one.size_px}px | ${one.weight} | ${one.line_height} | ${one.used_for.join(', ')} |`,
    ),
    `\n## Space and shape\n\nUnit: ${spacing.unit_px === null ? 'none' : `${spacing.unit_px}px`}; steps: ${spacing.steps.join(', ')}.\n`,
    `Radii: ${listed(radii)}.\n\nShadows: ${listed(shadows)}.\n\nBreakpoints: ${listed(breakpoints)}.`,
    '\n## Components\n\n| Component | Found | Text | Background | Padding | Radius |\n|---|---|---|---|---|---|',
    ...components.map(
      ({ kind, count, css }) =>
        `| ${kind} | ${count} | ${css['color']} | ${css['background']} | ${css['padding']} | ${css['border-radius']} |`,
    ),
    '',
  ].join('\n')
}
