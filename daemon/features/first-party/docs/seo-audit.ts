import type { Json } from '../../../../src/core/json.ts'
import { judgeBy, shownFindings } from '../service/findings.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import { defineStep } from '../service/step.ts'
import { decode, type WebPage } from '../web/page.ts'
import { bestLinks, checkAddress, readFurther, readPages, robotsOf } from './pages.ts'
import { factsOfPage } from './seo-facts.ts'
import { type SeoSubject, seoRules } from './seo-rules.ts'

const MAX_SITEMAPS = 20

const pagesIn = defineStep('seo_audit.pages', (page: WebPage) => bestLinks(page, ({ url }) => (isPage(url) ? 1 : 0)))
const sitemapsIn = defineStep('seo_audit.sitemaps', sitemapsOf)

/** Checks what search engines see of a page and its site, by weighted rules. */
export const seoAudit = defineService({
  slug: 'seo_audit',
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('site_url'),
  async read(input, ctx) {
    const pages = await readPages(ctx, input, { field: 'site_url', links: pagesIn })
    const [first] = pages
    const origin = new URL(first?.url ?? '').origin
    const robots = await robotsOf(ctx, origin)
    const sitemaps = await ctx.elsewhere(sitemapsIn, robots)
    const named = URL.parse(sitemaps[0] ?? '/sitemap.xml', origin)?.href
    const sitemap = named === undefined ? undefined : await readFurther(ctx, named)
    return { pages, robots, sitemaps, sitemap, at: ctx.now() }
  },
  make(input, { pages, robots, sitemaps, sitemap, at }): Json {
    const [first, ...others] = pages.map(factsOfPage)
    if (!first) throw new Error('no page was read')
    const subject = {
      page: first,
      redirects: pages[0]?.redirects.length ?? 0,
      hasRobots: robots !== undefined,
      sitemap: sitemapState(sitemap, sitemaps[0]),
      others,
    }
    const { score, findings, undecided } = judgeBy(seoRules, subject)
    return {
      site_url: textOf(input, 'site_url').trim(),
      final_url: first.url,
      score,
      pages: [first, ...others].map(({ url, status, title, description, canonicals, h1, words, noindex }) => ({
        url,
        status,
        title,
        description,
        canonical: canonicals[0] ?? null,
        h1: [...h1],
        words,
        indexable: noindex === null,
      })),
      // The page was fetched, so robots.txt allows it.
      robots: { found: subject.hasRobots, allows: true, sitemaps },
      structured_data: first.structured.map((one) => ({ ...one, errors: [...one.errors] })),
      ...shownFindings(findings),
      not_checked: [
        ...undecided,
        'properties of structured data',
        'rules of robots.txt for single crawlers',
        'changes made by scripts after the page loads',
        'links from other sites',
      ],
      checked_at: new Date(at).toISOString(),
    }
  },
})

/** Formats of sitemaps: XML, feeds and lists of URLs. */
const SITEMAP = /<(urlset|sitemapindex|rss|feed)[\s>]|^\s*https?:\/\//

function sitemapState(sitemap: WebPage | undefined, named: string | undefined): SeoSubject['sitemap'] {
  if (sitemap && SITEMAP.test(decode(sitemap))) return 'found'
  if (named === undefined) return 'none'
  return named.endsWith('.gz') ? undefined : 'broken'
}

function isPage(url: string): boolean {
  return !/\.(png|jpe?g|gif|svg|webp|pdf|zip|css|js|ico|xml|json|mp[34])$/i.test(new URL(url).pathname)
}

function sitemapsOf(robots: WebPage | undefined): string[] {
  const lines = robots ? decode(robots).split(/\r?\n/) : []
  return lines.flatMap((line) => /^\s*sitemap\s*:\s*(\S+)/i.exec(line)?.[1] ?? []).slice(0, MAX_SITEMAPS)
}
