import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openSite, type Page, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { seoAudit } from './seo-audit.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const text = (body: string): Page => ({ headers: { 'content-type': 'text/plain' }, body })
const page = { body: '<!doctype html><title>Ponds</title><h1>Ponds</h1>' }

async function audit(files: Readonly<Record<string, Page>>) {
  Object.assign(site.pages, { '/': page, ...files })
  const result = await delivered({
    service: seoAudit,
    input: { site_url: site.at('/') },
    means: { web: site.web(), now: () => 0 },
  })
  const status = (id: string) => result.findings.find((one: { id: string }) => one.id === id)?.status ?? null
  return { sitemap: status('sitemap'), robots: status('robots_txt'), isOpen: result.not_checked.includes('sitemap') }
}
const naming = (path: string) => ({ '/robots.txt': text(`Sitemap: ${site.at(path)}`) })

it.each<[string, () => Readonly<Record<string, Page>>, string | null]>([
  ['is XML', () => ({ '/sitemap.xml': { body: '<urlset></urlset>' } }), 'pass'],
  ['is a list of addresses', () => ({ ...naming('/all.txt'), '/all.txt': text('https://a.test/') }), 'pass'],
  ['is a page that answers every address', () => ({ '/sitemap.xml': page }), 'warn'],
  ['is named and not there', () => naming('/gone.xml'), 'fail'],
  ['is compressed, and not read', () => naming('/sitemap.xml.gz'), null],
])('a sitemap that %s', async (_, files, status) => {
  const { sitemap, isOpen } = await audit(files())
  expect({ sitemap, isOpen }).toEqual({ sitemap: status, isOpen: status === null })
})

it('a page that answers every address is no robots.txt', async () => {
  expect(await audit({ '/robots.txt': page })).toMatchObject({ robots: 'warn' })
  expect(await audit({ '/robots.txt': text('Allow: /') })).toMatchObject({ robots: 'pass' })
})
