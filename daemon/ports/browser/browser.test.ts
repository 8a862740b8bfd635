import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openSite, type Site } from '../web/site.testkit.ts'
import { chromium, isGroupGone } from './browser.testkit.ts'
import { type BrowserEngine, type BrowserOptions, MAX_BROWSERS, openBrowsers } from './browser.ts'
import type { BrowserPage } from './page.ts'
import { MAX_REQUESTS } from './traffic.ts'

// @slow a real browser

const MB = 1024 * 1024
let site: Site
const opened: BrowserEngine[] = []
const browsers = (options: Partial<BrowserOptions> = {}) => {
  const engine = openBrowsers({ web: site.web(), ...options })
  opened.push(engine)
  return engine
}
const profiles = async () => new Set((await readdir(tmpdir())).filter((name) => name.startsWith('souk-browser-')))

beforeAll(async () => {
  site = await openSite()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close?.()))
  site.clear()
})
afterAll(() => site.close())

/** Loads a page, remembers whose processes showed it, and says how it ended. */
async function ended(engine: BrowserEngine, body: string, work = (page: BrowserPage) => page.load(site.at('/'))) {
  site.pages['/'] ??= { body }
  const groups: number[] = []
  const job = { screen: 'desktop', signal: new AbortController().signal } as const
  const said = await engine.port
    .withPage(job, (page) => {
      groups.push(...engine.running())
      return work(page)
    })
    .then(
      () => 'well',
      (error: Error) => error.message,
    )
  expect(engine.running()).toEqual([])
  expect(await Promise.all(groups.map(isGroupGone))).not.toContain(false)
  return said
}

const forever = '<p>x</p><script>for (;;);</script>'

describe.skipIf(chromium === undefined)('a browser leaves no process behind', () => {
  it('when the job is done, and tells how much memory it took', async () => {
    const engine = browsers()
    expect(await ended(engine, '<p>x</p>')).toBe('well')
    if (process.platform === 'linux') expect(engine.peakBytes()).toBeGreaterThan(20 * MB)
  })

  it('when a page never ends', async () => {
    expect(await ended(browsers({ jobMs: 4_000 }), forever)).toBe('The page did not finish in time')
  })

  it.runIf(process.platform === 'linux')('when a page took more processor time than a job may take', async () => {
    expect(await ended(browsers({ jobCpuMs: 500 }), forever)).toBe('The page did not finish in time')
  })

  it('when a page asks without end', async () => {
    const asking = "<script>for (;;) alert('x')</script>"
    expect(await ended(browsers({ jobMs: 4_000 }), asking)).toBe('The page did not finish in time')
  })

  it('when the buyer goes', async () => {
    const buyer = new AbortController()
    site.pages['/'] = { body: forever }
    const engine = browsers()
    const job = engine.port.withPage({ screen: 'desktop', signal: buyer.signal }, (page) => {
      setImmediate(() => buyer.abort())
      return page.load(site.at('/'))
    })
    await expect(job).rejects.toMatchObject({ failure: 'page' })
    expect(engine.running()).toEqual([])
  })

  it('when the daemon stops under it, and none starts after that', async () => {
    site.pages['/'] = { body: forever }
    const engine = browsers()
    const loading = Promise.withResolvers<void>()
    const job = engine.port.withPage({ screen: 'desktop', signal: new AbortController().signal }, (page) => {
      loading.resolve()
      return page.load(site.at('/'))
    })
    const failed = expect(job).rejects.toThrow()
    await loading.promise
    const groups = engine.running()
    await engine.close?.()
    await failed
    expect(await Promise.all(groups.map(isGroupGone))).toEqual([true])
    const later = engine.port.withPage({ screen: 'desktop', signal: new AbortController().signal }, async () => 1)
    await expect(later).rejects.toMatchObject({ failure: 'gone' })
  })

  it('when the daemon is killed, even with a page that never ends', async () => {
    const program = fileURLToPath(new URL('./orphan.testkit.ts', import.meta.url))
    const daemon = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(daemon.stdout, 'data')
    const group = Number(String(line))
    expect(group).toBeGreaterThan(1)
    daemon.kill('SIGKILL')
    expect(await isGroupGone(group)).toBe(true)
  })

  it('and no folder of a daemon that was killed stays, while those of today do', async () => {
    const [old, today] = ['souk-browser-oldold', 'souk-browser-today1'].map((name) => join(tmpdir(), name))
    await mkdir(join(old ?? '', 'cache'), { recursive: true })
    await mkdir(today ?? '', { recursive: true })
    await utimes(old ?? '', 1, 1)
    expect(await browsers().probe?.()).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^Chromium \d+/) })
    expect([existsSync(old ?? ''), existsSync(today ?? '')]).toEqual([false, true])
    await rm(today ?? '', { recursive: true })
  })
})

describe.skipIf(chromium === undefined)('a page ends within its limits', () => {
  it('that goes on without end', async () => {
    site.pages['/'] = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      const more = () => res.write(`<p>${'x'.repeat(64 * 1024)}</p>`, () => res.destroyed || setImmediate(more))
      more()
    }
    // On a slow machine more than the page itself may have has come before it is looked at.
    expect(await ended(browsers(), '')).toMatch(
      /^The page (itself is larger than 8388608|is larger than 20971520) bytes/,
    )
  })

  it('that unpacks to a multiple of what is sent', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * MB, 'x'))
    site.pages['/bomb.css'] = { headers: { 'content-type': 'text/css', 'content-encoding': 'gzip' }, body: bomb }
    expect(await ended(browsers(), '<link rel="stylesheet" href="/bomb.css">')).toMatch(
      /^The decompressed page is larger than/,
    )
  })

  it('that weighs more than the wire may carry', async () => {
    site.pages['/big'] = { headers: { 'content-type': 'application/octet-stream' }, body: Buffer.alloc(21 * MB) }
    expect(await ended(browsers(), '<script>fetch("/big").then((a) => a.blob())</script>')).toMatch(
      /^The page is larger than 20971520 bytes/,
    )
  })

  it('that takes more memory than it may have', async () => {
    expect(await ended(browsers({ maxBytes: 30 * MB }), forever)).toBe('The page exceeds the memory limit')
  })

  it('that asks for more than a page may: the rest is not let through', async () => {
    const images = Array.from({ length: MAX_REQUESTS + 20 }, (_, i) => `<img src="/i${i}">`).join('')
    site.pages['/'] = { body: images }
    const blocked: number[] = []
    await ended(browsers(), images, async (page) => {
      const loaded = await page.load(site.at('/'))
      blocked.push(page.blocked())
      return loaded
    })
    expect(blocked[0]).toBeGreaterThanOrEqual(20)
    expect(site.asked.length).toBeLessThanOrEqual(MAX_REQUESTS + 2)
  })

  it('that leads on and on', async () => {
    for (let i = 0; i < 20; i += 1) {
      site.pages[`/${i}`] = { status: 302, headers: { location: `/${i + 1}` } }
    }
    expect(await ended(browsers(), '', (page) => page.load(site.at('/0')))).toMatch(/redirects more than 5 times/)
  })
})

describe.skipIf(chromium === undefined)('browsers', () => {
  it('are few at once; the others wait their turn, and too many are refused', async () => {
    const engine = browsers()
    let most = 0
    const jobs = Array.from({ length: 60 }, () =>
      engine.port
        .withPage({ screen: 'desktop', signal: AbortSignal.timeout(2_000) }, async () => {
          most = Math.max(most, engine.running().length)
        })
        .catch((error: { failure: string }) => error.failure),
    )
    const ends = await Promise.all(jobs)
    expect(most).toBeLessThanOrEqual(MAX_BROWSERS)
    expect(ends).toContain('busy')
    expect(engine.running()).toEqual([])
  })

  it('are not there where none is installed, or the one that is named does not start', async () => {
    expect(await browsers({ path: '/nowhere/chromium' }).probe?.()).toMatchObject({
      status: 'missing',
      fix: expect.stringContaining('chromium-headless-shell'),
    })
    expect(await browsers({ path: process.execPath.replace(/[^/]+$/, 'npm-none') }).probe?.()).toMatchObject({
      status: 'missing',
    })
    const broken = browsers({ path: '/bin/false' })
    expect(await broken.probe?.()).toMatchObject({ status: 'failing' })
    const job = broken.port.withPage({ screen: 'desktop', signal: AbortSignal.timeout(5_000) }, async () => 1)
    await expect(job).rejects.toMatchObject({ failure: 'gone' })
  })

  it('read robots exclusion for the page, and for where it leads', async () => {
    site.pages['/robots.txt'] = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /secret' }
    site.pages['/secret'] = { body: 'secret' }
    site.pages['/leads'] = { status: 302, headers: { location: '/secret' } }
    const engine = browsers()
    for (const path of ['/secret', '/leads']) {
      expect(await ended(engine, '', (page) => page.load(site.at(path)))).toMatch(
        /robots.txt of the site does not allow/,
      )
    }
    expect(site.asked).not.toContain('GET /secret')
  })
})

afterAll(async () => expect(await profiles()).not.toContain('souk-browser-oldold'))
