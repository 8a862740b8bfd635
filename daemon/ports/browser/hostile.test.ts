import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openSite, type Site } from '../web/site.testkit.ts'
import { chromium, hostilePages, openVictim } from './browser.testkit.ts'
import { type BrowserEngine, openBrowsers } from './browser.ts'
import type { BrowserPage } from './page.ts'

// @slow pages made to hold a browser up

/** A page goes on trying after it is loaded. */
const LINGER_MS = 2_500
const LOOK_MS = 100
const MAX_LOOKS = 300
let site: Site
let victim: Awaited<ReturnType<typeof openVictim>>
let engine: BrowserEngine
beforeAll(async () => {
  victim = await openVictim()
  site = await openSite(hostilePages(victim.port))
  engine = openBrowsers({ web: site.web() })
})
afterAll(async () => {
  await engine.close?.()
  await site.close()
  await victim.close()
})

const onPage = <T>(work: (page: BrowserPage) => Promise<T>, { port }: Pick<BrowserEngine, 'port'> = engine) =>
  port.withPage({ screen: 'desktop', signal: new AbortController().signal }, work)

const refused = [
  ['file:///etc/passwd', 'scheme_refused'],
  ['view-source:http://site.test/', 'scheme_refused'],
  ['chrome://version', 'scheme_refused'],
  ['data:text/html,x', 'scheme_refused'],
  ['about:blank', 'scheme_refused'],
  ['http://127.0.0.1/', 'address_refused'],
  ['http://[::ffff:10.0.0.1]/', 'address_refused'],
  ['http://2130706433/', 'address_refused'],
  ['http://169.254.169.254/', 'address_refused'],
  ['http://site.test:22/', 'port_refused'],
  ['http://user:word@site.test/', 'credentials_refused'],
  // The name leads to loopback, and no exemption names this port.
  ['http://rebound.test/', 'address_refused'],
  ['https://rebound.test/', 'address_refused'],
] as const

describe.skipIf(chromium === undefined)('a hostile page', () => {
  it('reaches nothing of this machine over any way out that a page has, nor does it when it is printed', async () => {
    const { tried, blocked, printed } = await onPage(async (page) => {
      await page.load(site.at('/', '127.0.0.1'))
      while (page.blocked() <= 5 || !site.asked.includes('GET /from-worker')) await sleep(LOOK_MS)
      await sleep(LINGER_MS)
      await page.picture({ format: 'jpeg' })
      const paper = { width: 8, height: 11, landscape: false, from: 1, to: 1 }
      const printed = (await page.print(paper)).length
      return { tried: await page.evaluate('document.images.length', z.number()), blocked: page.blocked(), printed }
    })
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
    expect(site.asked.filter((line) => !/^(GET|HEAD) /.test(line))).toEqual([])
    expect(tried).toBeGreaterThan(5)
    expect(blocked).toBeGreaterThan(5)
    expect(printed).toBeGreaterThan(100)
    // What outlives the page is not even asked for; a worker of the page runs, and gets no further than the page.
    expect(site.asked).not.toContain('GET /service.js')
    expect(site.asked).toContain('GET /from-worker')
  })

  it('would reach it without the guard: the page tries in earnest', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'souk-hostile-'))
    const aimed = await openVictim()
    const open = await openSite(hostilePages(aimed.port))
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
    ]
    const browser = spawn(chromium ?? '', [...flags, open.at('/', '127.0.0.1')], { detached: true, stdio: 'ignore' })
    try {
      for (let looks = 0; looks < MAX_LOOKS && (aimed.count.packets === 0 || aimed.count.connections < 5); looks += 1) {
        await sleep(LOOK_MS)
      }
      expect(aimed.count.connections).toBeGreaterThanOrEqual(5)
      expect(aimed.count.packets).toBeGreaterThan(0)
    } finally {
      process.kill(-(browser.pid ?? 0), 'SIGKILL')
      await open.close()
      await aimed.close()
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  })

  it('that leads away by itself leads nowhere else', async () => {
    const away = ['/meta', '/script', '/form', '/to-file', '/to-view-source', '/to-chrome', '/to-data']
    await onPage(async (page) => {
      for (const path of away) {
        const { final_url } = await page.load(site.at(path))
        await sleep(LINGER_MS / away.length)
        const seen = z.object({ href: z.string(), text: z.string() })
        const shown = await page.evaluate('({ href: location.href, text: document.body.innerText })', seen)
        expect([path, shown.href]).toEqual([path, final_url])
        expect(shown.text).not.toContain('root:')
        expect(final_url).toBe(site.at(path))
      }
    })
    expect(victim.count).toEqual({ connections: 0, packets: 0 })
  })

  it('cannot be asked for where no page stands', async () => {
    await onPage(async (page) => {
      for (const [url, failure] of refused) await expect(page.load(url), url).rejects.toMatchObject({ failure })
    })
  })

  it('that is a download is no page', async () => {
    await expect(onPage((page) => page.load(site.at('/file')))).rejects.toMatchObject({ message: /is a file/ })
    expect(site.asked).toContain('GET /file')
  })
})
