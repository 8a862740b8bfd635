import { type Judged, none, type Rule, rule } from '../service/findings.ts'
import type { PageFacts } from './seo-facts.ts'

export type SeoSubject = {
  readonly page: PageFacts
  readonly redirects: number
  readonly hasRobots: boolean
  /** `broken`: robots.txt names a sitemap that cannot be read; undefined if it was not looked for or is compressed. */
  readonly sitemap: 'found' | 'none' | 'broken' | undefined
  readonly others: readonly PageFacts[]
}

const TITLE = [10, 65] as const
const DESCRIPTION = [50, 165] as const
const MIN_WORDS = 150
const WORDS_OF_NOTHING = 50
const MAX_SHOWN = 5

const vague = /^(click here|here|read more|more|link|this|learn more)$/i

export const seoRules: readonly Rule<SeoSubject>[] = [
  rule('indexable', 15, ({ page }) =>
    page.noindex === null
      ? ['pass', 'Search engines may index the page.']
      : ['fail', 'The page forbids indexing (noindex).', page.noindex],
  ),
  rule('title', 8, ({ page: { title } }) =>
    title ? ['pass', 'The page has a title.', title] : ['fail', 'The page has no title.'],
  ),
  rule('title_length', 3, ({ page: { title } }) => (title ? lengthFinding('title', title, TITLE) : undefined)),
  rule('description', 6, ({ page: { description } }) =>
    description ? ['pass', 'The page has a description.'] : ['fail', 'The page has no description.'],
  ),
  rule('description_length', 2, ({ page: { description } }) =>
    description ? lengthFinding('description', description, DESCRIPTION) : undefined,
  ),
  rule('one_h1', 6, ({ page: { h1 } }) => {
    if (h1.length === 0) return ['fail', 'The page has no main heading (h1).']
    return h1.length === 1
      ? ['pass', 'The page has one main heading.', h1[0]]
      : ['warn', `The page has ${h1.length} main headings (h1); use one.`, h1.slice(0, MAX_SHOWN).join(' | ')]
  }),
  rule('heading_order', 3, ({ page: { headings } }) => {
    const skip = headings.find((level, at) => at > 0 && level > (headings[at - 1] ?? 0) + 1)
    return skip === undefined
      ? ['pass', 'Heading levels are in order.']
      : ['warn', `A heading (h${skip}) skips a level.`]
  }),
  rule('canonical', 5, ({ page: { canonicals, url } }) => {
    if (canonicals.length === 0) return ['warn', 'No canonical URL is declared.']
    if (new Set(canonicals).size > 1) return ['fail', 'More than one canonical URL is declared.', canonicals.join(' ')]
    const [canonical = ''] = canonicals
    if (!/^https?:$/.test(URL.parse(canonical)?.protocol ?? ''))
      return ['fail', 'The canonical URL is invalid.', canonical]
    return canonical === url
      ? ['pass', 'The canonical URL is the page itself.']
      : ['warn', 'The canonical URL is another page.', canonical]
  }),
  rule('lang', 4, ({ page: { lang } }) =>
    /^[a-z]{2,3}(-[\w-]+)?$/i.test(lang ?? '')
      ? ['pass', 'The language is declared.', lang ?? '']
      : ['fail', 'The language of the page is not declared.'],
  ),
  rule('viewport', 4, ({ page: { viewport } }) =>
    /width=device-width/.test(viewport ?? '')
      ? ['pass', 'A mobile viewport is declared.']
      : ['fail', 'No mobile viewport is declared.'],
  ),
  rule('image_alternatives', 4, ({ page: { images, imagesWithoutAlt } }) => {
    if (images === 0) return undefined
    const bad = ['fail', `Images without alternative text: # of ${images}.`] as const
    return none(imagesWithoutAlt, 'Every image has alternative text.', bad)
  }),
  rule('link_texts', 3, ({ page: { linkTexts } }) => {
    const bad = linkTexts.filter((text) => text === '' || vague.test(text))
    if (linkTexts.length === 0) return undefined
    return none(bad, 'Link texts are descriptive.', ['warn', 'Link texts that are not descriptive: #.'])
  }),
  rule('structured_data', 4, ({ page: { structured } }) => {
    if (structured.length === 0) return ['warn', 'There is no structured data (JSON-LD, microdata or RDFa).']
    const broken = structured.filter(({ valid }) => !valid)
    return broken.length === 0
      ? ['pass', 'Structured data is well-formed.']
      : ['fail', 'Structured data cannot be read.', broken.flatMap(({ errors }) => errors).join('; ')]
  }),
  rule('open_graph', 3, ({ page: { openGraph } }) => {
    const missing = ['og:title', 'og:description', 'og:image'].filter((name) => !openGraph.includes(name))
    return none(missing, 'Open Graph title, description and image are set.', ['warn', 'Open Graph tags are missing.'])
  }),
  rule('robots_txt', 2, ({ hasRobots }) =>
    hasRobots ? ['pass', 'There is a robots.txt.'] : ['warn', 'There is no robots.txt.'],
  ),
  rule('sitemap', 4, ({ sitemap }) => {
    if (sitemap === 'none') return ['warn', 'No sitemap was found.']
    if (sitemap === 'broken') return ['fail', 'The sitemap that robots.txt names cannot be read.']
    return sitemap && ['pass', 'There is a sitemap.']
  }),
  rule('https', 6, ({ page: { url } }) =>
    url.startsWith('https:')
      ? ['pass', 'The page is served over https.']
      : ['fail', 'The page is not served over https.'],
  ),
  rule('words', 4, ({ page: { words } }) => {
    if (words >= MIN_WORDS) return ['pass', `The page has ${words} words.`]
    return [words < WORDS_OF_NOTHING ? 'fail' : 'warn', `The page has only ${words} words.`]
  }),
  rule('redirects', 2, ({ redirects }) =>
    redirects <= 1 ? ['pass', 'There is at most one redirect.'] : ['warn', `Redirects before the page: ${redirects}.`],
  ),
  rule('hreflang', 2, ({ page: { hreflangs, url } }) => {
    if (hreflangs.length === 0) return undefined
    const bad = hreflangs.filter(({ lang, href }) => !/^([a-z]{2,3}(-[\w-]+)?|x-default)$/i.test(lang) || href === null)
    if (bad.length > 0) return ['fail', 'hreflang has invalid entries.', bad.map(({ lang }) => lang).join(', ')]
    return hreflangs.some(({ href }) => href === url)
      ? ['pass', 'hreflang lists the page and its other languages.']
      : ['warn', 'hreflang does not list this page itself.']
  }),
  rule('unique_titles', 3, ({ page, others }) => {
    if (others.length === 0) return undefined
    const twins = others.filter(({ title }) => title !== null && title === page.title).map(({ url }) => url)
    return none(twins, 'Every page that was read has its own title.', ['warn', 'Other pages have the same title.'])
  }),
]

function lengthFinding(what: string, text: string, [least, most]: readonly [number, number]): Judged {
  if (text.length < least) return ['warn', `The ${what} is short: ${text.length} characters.`, text]
  if (text.length > most) return ['warn', `The ${what} is long: ${text.length} characters.`, text]
  return ['pass', `The ${what} is ${text.length} characters long.`]
}
