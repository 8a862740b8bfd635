import { createHash, X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Leaf, openAuthority } from '../tls/authority.testkit.ts'
import { openSite, type Site } from '../web/site.testkit.ts'
import { chromium, hostilePages, openVictim } from './browser.testkit.ts'
import { openBrowsers } from './browser.ts'
import type { BrowserPage } from './page.ts'

/* Within TLS the proxy sees no addresses and no methods: what holds over plain http has to hold there as well. */
// @deep a real browser at a hostile site, once more over TLS

/** A page goes on trying after it is loaded. */
const LINGER_MS = 2_500
const LOOK_MS = 20
const HOST = 'site.test'
let authority: ReturnType<typeof openAuthority>
let victim: Awaited<ReturnType<typeof openVictim>>
let site: Site
let leaf: Leaf
beforeAll(async () => {
  authority = openAuthority()
  victim = await openVictim()
  leaf = authority.leaf({ name: HOST })
  site = await openSite(overTls(hostilePages(victim.port)), leaf)
})
afterAll(async () => {
  await site.close()
  await victim.close()
  authority.close()
})

/** The same pages, whose every address is one of https. */
function overTls(pages: Site['pages']): Site['pages'] {
  const secured = (text: string) => text.replaceAll('http://', 'https://').replaceAll("'ws://", "'wss://")
  return Object.fromEntries(
    Object.entries(pages).map(([path, page]) => {
      if (typeof page !== 'object') return [path, page]
      const { headers = {}, body = '' } = page
      const led = Object.entries(headers).map(([name, value]) => [name, secured(value)])
      return [path, { ...page, headers: Object.fromEntries(led), body: secured(String(body)) }]
    }),
  )
}

function keyOf({ cert }: Leaf): string {
  const { publicKey } = new X509Certificate(cert)
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64')
}

type Shown = { readonly on?: Site; readonly trustedKeys?: readonly string[] }

async function onPage<T>(
  work: (page: BrowserPage) => Promise<T>,
  { on = site, trustedKeys = [keyOf(leaf)] }: Shown = {},
) {
  const engine = openBrowsers({ web: on.web({ ca: authority.root }), trustedKeys })
  try {
    return await engine.port.withPage({ screen: 'desktop', signal: new AbortController().signal }, work)
  } finally {
    await engine.close?.()
  }
}

describe.skipIf(chromium === undefined)('a page over https', () => {
  it('is shown, as one that is secure', async () => {
    const shown = await onPage(async (page) => ({
      ...(await page.load(site.at('/file-less'))),
      isSecure: await page.evaluate('isSecureContext', z.boolean()),
    }))
    expect(shown).toMatchObject({ status: 404, final_url: site.at('/file-less'), isSecure: true })
  })

  it('reaches nothing of this machine over any way out that a page has, and only reads', async () => {
    site.asked.length = 0
    const blocked = await onPage(async (page) => {
      await page.load(site.at('/'))
      while (page.blocked() <= 3 || !site.asked.includes('GET /from-worker')) await sleep(LOOK_MS)
      await sleep(LINGER_MS)
      return page.blocked()
    })
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
    expect(site.asked.filter((line) => !/^(GET|HEAD) /.test(line))).toEqual([])
    expect(site.asked).toContain('GET /from-worker')
    expect(site.asked).not.toContain('GET /service.js')
    expect(blocked).toBeGreaterThan(3)
  })

  it('that leads to http, or inside, is not followed', async () => {
    site.pages['/down'] = { status: 302, headers: { location: `http://${HOST}:${site.port}/` } }
    await onPage(async (page) => {
      await expect(page.load(site.at('/down'))).rejects.toMatchObject({ failure: 'downgrade_refused' })
      await expect(page.load(site.at('/redirect'))).rejects.toMatchObject({ isRefusal: true })
    })
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
  })

  it.each<[string, () => Leaf, Shown]>([
    ['that is expired', () => authority.leaf({ name: HOST, to: '20210101000000Z' }), {}],
    ['of another name', () => authority.leaf({ name: 'other.test' }), {}],
    ['that signed itself', () => authority.leaf({ name: HOST, issuer: 'self' }), {}],
    // The fetcher trusts it; the browser was not told to.
    ['of an authority that the browser does not know', () => leaf, { trustedKeys: [] }],
  ])('with a certificate %s is refused, and that is said', async (_, certificate, how) => {
    const other = await openSite({ '/': { body: 'secret' } }, certificate())
    try {
      const shown = onPage((page) => page.load(other.at('/')), { on: other, trustedKeys: [], ...how })
      await expect(shown).rejects.toMatchObject({ message: expect.stringMatching(/certificate/i) })
      expect(other.asked).not.toContain('GET /')
    } finally {
      await other.close()
    }
  })
})
