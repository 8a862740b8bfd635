import { availableParallelism, loadavg } from 'node:os'
import { z } from 'zod'
import type { BrowserPage, Loaded, Throttling } from '../../../ports/browser/page.ts'
import type { PageResource } from '../../../ports/browser/traffic.ts'
import { type JsonInput, textOf } from '../service/service.ts'
import { type BrowserCtx, inBrowser, loadedOk } from './opened.ts'

const MAX_LISTED = 250
const MAX_CHARS = 300
/** A page has settled when there was no layout shift and no long task for this long. */
const QUIET_MS = 1_000
/** Longest wait for a page to settle; below the browser's limit for a busy page (10 s). */
const MAX_WAIT_MS = 3_500
const LOOK_MS = 50

const Timings = z.object({
  fcp_ms: z.number().nullable(),
  lcp_ms: z.number().nullable(),
  lcp_element: z.string().nullable(),
  cls: z.number(),
  tbt_ms: z.number(),
  long_tasks: z.number(),
  ttfb_ms: z.number(),
  dom_ms: z.number(),
  load_ms: z.number(),
  blocking: z.array(z.string()).max(MAX_LISTED),
  images: z
    .array(z.object({ src: z.string(), sized: z.boolean(), excess: z.number(), distorted: z.boolean() }))
    .max(MAX_LISTED),
})
export type Timings = z.output<typeof Timings>

export type PageSpeed = {
  readonly loaded: Loaded
  readonly timings: Timings
  readonly resources: readonly PageResource[]
  readonly blocked: number
  /** Programs that wanted a processor core in the last minute, per core; 0 where the system does not tell. */
  readonly load: number
}

/** What is not known of a page that was measured on a busy machine. */
export function busyNote(loads: readonly number[]): string[] {
  const most = Math.max(...loads)
  return most > 1
    ? [`the speed on an idle machine (this one was busy: ${most.toFixed(1)} programs per processor core)`]
    : []
}

/** Reads the browser's recorded timings in an isolated world. */
const TIMINGS = `(async () => {
  const begun = performance.now()
  let quiet = 0
  const seen = (type) => {
    const entries = []
    try { new PerformanceObserver((list) => { entries.push(...list.getEntries()); quiet = 0 }).observe({ type, buffered: true }) } catch {}
    return entries
  }
  const [paints, largest, shifts, tasks] = ['paint', 'largest-contentful-paint', 'layout-shift', 'longtask'].map(seen)
  for (let last = begun; quiet < ${QUIET_MS} && last - begun < ${MAX_WAIT_MS};) {
    await new Promise((resolve) => setTimeout(resolve, ${LOOK_MS}))
    // Time in which the page could not run does not count as quiet.
    quiet += Math.min(performance.now() - last, 2 * ${LOOK_MS})
    last = performance.now()
  }
  const fcp = paints.find(({ name }) => name === 'first-contentful-paint')
  const lcp = largest.at(-1)
  const named = (element) => element ? (element.tagName.toLowerCase() + (element.id ? '#' + element.id : '') + (element.classList && element.classList[0] ? '.' + element.classList[0] : '')).slice(0, ${MAX_CHARS}) : null
  let worst = 0, sum = 0, first = 0, last = 0
  for (const { startTime, value, hadRecentInput } of shifts) {
    if (hadRecentInput) continue
    if (sum > 0 && startTime - last < 1000 && startTime - first < 5000) sum += value
    else { sum = value; first = startTime }
    last = startTime
    worst = Math.max(worst, sum)
  }
  const from = fcp ? fcp.startTime : 0
  const late = tasks.filter(({ startTime, duration }) => startTime + duration > from)
  const [navigation] = performance.getEntriesByType('navigation')
  const excess = (image) => image.naturalWidth && image.clientWidth ? image.naturalWidth * image.naturalHeight / (image.clientWidth * image.clientHeight * devicePixelRatio ** 2) : 0
  return {
    fcp_ms: fcp ? Math.round(fcp.startTime) : null,
    lcp_ms: lcp ? Math.round(lcp.startTime) : null,
    lcp_element: lcp ? named(lcp.element) : null,
    cls: Math.round(worst * 1000) / 1000,
    tbt_ms: Math.round(late.reduce((sum, { startTime, duration }) => sum + Math.max(0, startTime + duration - Math.max(startTime, from) - 50), 0)),
    long_tasks: late.length,
    ttfb_ms: Math.round(navigation.responseStart), dom_ms: Math.round(navigation.domContentLoadedEventEnd), load_ms: Math.round(navigation.loadEventEnd),
    blocking: performance.getEntriesByType('resource').filter(({ renderBlockingStatus }) => renderBlockingStatus === 'blocking').map(({ name }) => name.slice(0, 2000)).slice(0, ${MAX_LISTED}),
    images: [...document.images].slice(0, ${MAX_LISTED}).map((image) => ({
      src: (image.currentSrc || image.src).slice(0, ${MAX_CHARS}),
      sized: (image.hasAttribute('width') && image.hasAttribute('height')) || getComputedStyle(image).aspectRatio !== 'auto',
      excess: excess(image),
      distorted: image.naturalWidth > 1 && image.clientWidth > 1 && image.clientHeight > 1 && getComputedStyle(image).objectFit === 'fill' && Math.abs(image.naturalWidth / image.naturalHeight / (image.clientWidth / image.clientHeight) - 1) > 0.1,
    })),
  }
})()`

/** The applied latency is the simulated latency times this factor (Lighthouse, throttling guide). */
const LATENCY_FACTOR = 3.75
const THROUGHPUT_FACTOR = 0.9
const BITS_PER_BYTE = 8

function line(roundTripMs: number, kilobits: number, cpu: number): Throttling {
  const bytesPerSecond = (kilobits * 1_000 * THROUGHPUT_FACTOR) / BITS_PER_BYTE
  return { cpu, latencyMs: roundTripMs * LATENCY_FACTOR, bytesPerSecond }
}

/** Lighthouse's profiles: a mid-range phone on slow 4G, and a desktop on a fast line. */
const devices = {
  mobile: { screen: 'labMobile', line: line(150, 1_638.4, 4) },
  desktop: { screen: 'labDesktop', line: line(40, 10_240, 1) },
} as const
export type Device = keyof typeof devices

type Measuring = { readonly input: JsonInput; readonly field: string; readonly device: Device }
type Look<T> = (page: BrowserPage, speed: PageSpeed) => Promise<T>

/** Measures the page whose URL is in an input field, with a device's screen and network. @throws like `onPage` */
export function measure<T>(ctx: BrowserCtx, { input, field, device }: Measuring, look: Look<T>): Promise<T> {
  const { screen, line } = devices[device]
  return inBrowser(ctx, { field, screen }, async (page) => {
    await page.throttle(line)
    const loaded = await loadedOk(page, textOf(input, field).trim())
    const timings = await page.evaluate(TIMINGS, Timings)
    return look(page, {
      loaded,
      timings,
      resources: page.resources(),
      blocked: page.blocked(),
      load: (loadavg()[0] ?? 0) / availableParallelism(),
    })
  })
}

type Curve = readonly [p10: number, median: number, weight: number]
type Metric = 'fcp_ms' | 'lcp_ms' | 'tbt_ms' | 'cls'
/** Lighthouse's published score curves: value of the best 10 %, median value, and weight. */
const curves: Readonly<Record<Device, Readonly<Record<Metric, Curve>>>> = {
  mobile: { fcp_ms: [1_800, 3_000, 10], lcp_ms: [2_500, 4_000, 25], tbt_ms: [200, 600, 30], cls: [0.1, 0.25, 25] },
  desktop: { fcp_ms: [934, 1_600, 10], lcp_ms: [1_200, 2_400, 25], tbt_ms: [150, 350, 30], cls: [0.1, 0.25, 25] },
}
/** The lowest 10 % of a normal distribution are at least this many standard deviations below the mean. */
const TENTH = 1.2815515655446004
const WHOLE = 100

/** Score of the measured metrics; 0 for a page that painted nothing. */
export function speedScore(timings: Pick<Timings, Metric>, device: Device): number {
  if (timings.fcp_ms === null) return 0
  let got = 0
  let whole = 0
  for (const [name, [p10, median, weight]] of Object.entries(curves[device]) as [Metric, Curve][]) {
    const value = timings[name]
    if (value === null) continue
    got += weight * share(value, p10, median)
    whole += weight
  }
  return Math.round((WHOLE * got) / whole)
}

/** Share of pages that are worse than `value`, from 0 to 1, on a log-normal curve through `p10` and `median`. */
export function share(value: number, p10: number, median: number): number {
  if (value <= 0) return 1
  const deviations = (Math.log(value / median) * TENTH) / Math.log(median / p10)
  return 1 - normal(deviations)
}

/** Normal distribution (Abramowitz and Stegun, 26.2.17), exact to seven digits. */
function normal(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x))
  const tail =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))) *
    (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI))
  return x < 0 ? tail : 1 - tail
}
