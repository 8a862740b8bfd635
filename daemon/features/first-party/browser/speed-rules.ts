import { parse as parseName } from 'tldts'
import type { PageResource } from '../../../ports/browser/traffic.ts'
import { type FindingStatus, none, type Rule, rule } from '../service/findings.ts'
import type { PageSpeed } from './speed.ts'

const HEAVY_BYTES = 1_600_000
const MANY_REQUESTS = 80
const SMALL_BYTES = 1_400
const WEEK_S = 604_800
const SLOW_ANSWER_MS = 600
const SHIFTS = [0.1, 0.25] as const
const TASKS_MS = [200, 600] as const
const EXCESS = 2.5
const MANY_FONTS = 4
const HALF = 0.5

const packable = /^(Document|Stylesheet|Script|XHR|Fetch)$/
const keepable = /^(Stylesheet|Script|Image|Font)$/

/** Rules about causes of slow pages, each with its evidence. */
export const speedRules: readonly Rule<PageSpeed>[] = [
  rule('render_blocking', 10, ({ timings: { blocking } }) =>
    none(blocking, 'No files block the first paint.', ['fail', 'Files that block the first paint: #.']),
  ),
  rule('compression', 8, ({ resources }) => {
    const loose = own(resources).filter(
      ({ type, headers, decodedBytes }) =>
        packable.test(type) && decodedBytes > SMALL_BYTES && headers['content-encoding'] === undefined,
    )
    return none(urlsOf(loose), 'Text files are compressed.', ['fail', 'Text files without compression: #.'])
  }),
  rule('caching', 6, ({ resources }) => {
    const files = own(resources).filter(({ type }) => keepable.test(type))
    const short = files.filter((one) => (cacheSeconds(one) ?? 0) < WEEK_S)
    if (files.length === 0) return undefined
    const bad = ['warn', 'Static files cached for less than a week: #.'] as const
    return none(urlsOf(short), 'Static files are cached for at least a week.', bad)
  }),
  rule('weight', 8, ({ resources }) => {
    const bytes = weightOf(resources)
    return bytes <= HEAVY_BYTES
      ? ['pass', `The page weighs ${bytes} bytes.`]
      : ['fail', `The page weighs ${bytes} bytes (recommended: at most ${HEAVY_BYTES}).`]
  }),
  rule('requests', 4, ({ resources: { length } }) => [within(length, [MANY_REQUESTS]), `Requests: ${length}.`]),
  rule('rest', 4, ({ loaded: { timed_out } }) =>
    timed_out
      ? ['warn', 'The page was still making requests when the measurement ended.']
      : ['pass', 'All requests finished before the measurement ended.'],
  ),
  rule('image_sizes', 4, ({ timings: { images } }) => {
    const loose = images.filter(({ sized }) => !sized).map(({ src }) => src)
    if (images.length === 0) return undefined
    return none(loose, 'All images declare width and height.', ['warn', 'Images without width and height: #.'])
  }),
  rule('oversized_images', 5, ({ timings: { images } }) => {
    const large = images.filter(({ excess }) => excess > EXCESS).map(({ src }) => src)
    if (images.length === 0) return undefined
    return none(large, 'No image is much larger than displayed.', ['warn', 'Images much larger than displayed: #.'])
  }),
  rule('redirects', 3, ({ loaded: { redirects } }) => {
    const to = redirects.map((one) => one.to)
    return none(to, 'There are no redirects before the page.', ['warn', 'Redirects before the page: #.'])
  }),
  rule('long_tasks', 8, ({ timings: { tbt_ms, long_tasks } }) => [
    within(tbt_ms, TASKS_MS),
    `Long tasks: ${long_tasks}; total blocking time: ${tbt_ms} ms.`,
  ]),
  rule('layout_shifts', 8, ({ timings: { cls } }) => [within(cls, SHIFTS), `Cumulative layout shift is ${cls}.`]),
  rule('server_time', 5, ({ timings: { ttfb_ms } }) => [
    within(ttfb_ms, [SLOW_ANSWER_MS]),
    `The server takes ${ttfb_ms} ms to respond.`,
  ]),
  rule('http2', 2, ({ resources, loaded }) => {
    if (!loaded.final_url.startsWith('https:')) return undefined
    const old = resources.filter(({ protocol }) => protocol.startsWith('http/1'))
    return none(urlsOf(old), 'All responses use HTTP/2 or later.', ['warn', 'Responses over HTTP/1: #.'])
  }),
  rule('third_parties', 3, ({ resources, loaded }) => {
    const [theirs, all] = [thirdPartyBytes(resources, loaded.final_url), weightOf(resources)]
    return [within(theirs, [all * HALF]), `${theirs} of ${all} bytes come from other sites.`]
  }),
  rule('fonts', 2, ({ resources }) => {
    const fonts = resources.filter(({ type }) => type === 'Font').length
    return [within(fonts, [MANY_FONTS]), `Fonts loaded: ${fonts}.`]
  }),
]

/** Passes up to the first bound, and fails above the second. */
function within(value: number, [most, worst = Number.POSITIVE_INFINITY]: readonly [number, number?]): FindingStatus {
  if (value > worst) return 'fail'
  return value > most ? 'warn' : 'pass'
}

function urlsOf(resources: readonly PageResource[]): string[] {
  return resources.map(({ url }) => url)
}

function own(resources: readonly PageResource[]): PageResource[] {
  return resources.filter(({ status = 0, url }) => status >= 200 && status < 300 && url.startsWith('http'))
}

export function weightOf(resources: readonly PageResource[]): number {
  return Math.round(resources.reduce((sum, { bytes }) => sum + bytes, 0))
}

export function thirdPartyBytes(resources: readonly PageResource[], page: string): number {
  const site = siteOf(page)
  return weightOf(resources.filter(({ url }) => url.startsWith('http') && siteOf(url) !== site))
}

function siteOf(url: string): string {
  const host = URL.parse(url)?.hostname ?? ''
  return parseName(host).domain ?? host
}

/** Cache lifetime of a response in seconds; null if not given. */
export function cacheSeconds({ headers }: Pick<PageResource, 'headers'>): number | null {
  const control = headers['cache-control'] ?? ''
  if (/no-store|no-cache/i.test(control)) return 0
  const age = /max-age\s*=\s*(\d{1,10})/i.exec(control)?.[1]
  return age === undefined ? null : Number(age)
}
