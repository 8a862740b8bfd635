import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { IS_DEEP } from '../../../fixtures/kit/depth.ts'
import { openSite } from '../web/site.testkit.ts'
import { chromium } from './browser.testkit.ts'
import { openBrowsers } from './browser.ts'
import type { BrowserPage } from './page.ts'

// @slow a real browser

const site = await openSite()
const engines = Array.from({ length: IS_DEEP ? 4 : 1 }, () => openBrowsers({ web: site.web() }))
afterEach(() => site.clear())
afterAll(async () => {
  await Promise.all(engines.map(({ close }) => close?.()))
  await site.close()
})

type Delays = { readonly firstByteMs: number; readonly pictureMs: number }

/** Longer than the browser takes to call the empty page idle, which it shows before. */
const LATE_MS = 2_500
const short: readonly Delays[] = [
  { firstByteMs: LATE_MS, pictureMs: 0 },
  { firstByteMs: 0, pictureMs: LATE_MS },
  { firstByteMs: LATE_MS, pictureMs: LATE_MS },
]
const LOADS = 200
const MAX_MS = 5_000
/** Spread evenly over both, without a pattern between them. */
const spread = Array.from({ length: LOADS }, (_, at) => ({
  firstByteMs: (at * MAX_MS) / LOADS,
  pictureMs: ((at * 61) % LOADS) * (MAX_MS / LOADS),
}))

/** A page under a path of its own, and whether everything of it was sent. */
function plant(path: string, { firstByteMs, pictureMs }: Delays): () => boolean {
  const picture = `${path}.png`
  let isSent = false
  site.pages[path] = (_, res) =>
    void sleep(firstByteMs).then(() =>
      res.writeHead(200, { 'content-type': 'text/html' }).end(`<p>x</p><img src="${picture}">`),
    )
  site.pages[picture] = (_, res) =>
    void sleep(pictureMs).then(() => {
      isSent = true
      res.writeHead(200, { 'content-type': 'image/gif' }).end(Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64'))
    })
  return () => isSent
}

async function inPage<T>(lane: number, work: (page: BrowserPage) => Promise<T>): Promise<T> {
  const job = { screen: 'desktop', signal: new AbortController().signal } as const
  const { port } = engines[lane % engines.length] ?? engines[0] ?? openBrowsers({ web: site.web() })
  return port.withPage(job, work)
}

describe.skipIf(chromium === undefined)('a load', () => {
  it('ends after the last picture of a slow page, and says that nothing is missing', async () => {
    const waiting = [...(IS_DEEP ? spread : short).entries()]
    const early: Delays[] = []
    const work = async (lane: number) => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [at, delays] = next
        const isSent = plant(`/${at}`, delays)
        const { timed_out, final_url } = await inPage(lane, (page) => page.load(site.at(`/${at}`)))
        if (!isSent() || timed_out || final_url !== site.at(`/${at}`)) early.push(delays)
      }
    }
    await Promise.all(Array.from({ length: engines.length * 2 }, (_, lane) => work(lane)))
    expect(early).toEqual([])
  })

  it('waits for a picture that a script asks for with the answer to a slow question', async () => {
    const isSent = plant('/slow', { firstByteMs: 0, pictureMs: LATE_MS })
    const asking = `fetch('/news').then(() => { document.body.append(Object.assign(new Image(), { src: '/slow.png' })) })`
    site.pages['/'] = { body: `<p>x</p><script>onload = () => ${asking}</script>` }
    site.pages['/news'] = (_, res) => void sleep(LATE_MS).then(() => res.end('x'))
    expect(await inPage(0, (page) => page.load(site.at('/')))).toMatchObject({ timed_out: false })
    expect(isSent()).toBe(true)
  })

  it('says that a picture is missing, and not that a question for news stays open', async () => {
    site.pages['/never'] = () => undefined
    site.pages['/picture'] = { body: '<p>x</p><img src="/never">' }
    site.pages['/news'] = { body: '<p>x</p><script>fetch("/never"); new EventSource("/never")</script>' }
    const loads = ['/picture', '/news'].map((path) => inPage(0, (page) => page.load(site.at(path))))
    expect((await Promise.all(loads)).map(({ timed_out }) => timed_out)).toEqual([true, false])
  })

  it('of a line of HTML ends at once, as nothing is missing', async () => {
    const shown = await inPage(0, (page) => page.show('<p>x'))
    expect(shown).toEqual({ timed_out: false })
  })
})
