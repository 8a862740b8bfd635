import { parse as parseName } from 'tldts'
import type { PageResource } from '../../../ports/browser/traffic.ts'
import { type Rule, rule } from '../service/findings.ts'
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
const MAX_SHOWN = 5
const HALF = 0.5

const packable = /^(Document|Stylesheet|Script|XHR|Fetch)$/
const keepable = /^(Stylesheet|Script|Image|Font)$/

/** Rules about causes of slow pages, each with its evidence. */
export const speedRules: readonly Rule<PageSpeed>[] = [
  rule('render_blocking', 10, ({ timings: { blocking } }) =>
    blocking.length === 0
      ? ['pass', 'No files block the first paint.']
      : ['fail', `${blocking.length} files block the first paint.`, shown(blocking)],
  ),
  rule('compression', 8, ({ resources }) => {
    const loose = own(resources).filter(
      ({ type, headers, decodedBytes }) =>
        packable.test(type) && decodedBytes > SMALL_BYTES && headers['content-encoding'] === undefined,
    )
    return loose.length === 0
      ? ['pass', 'Text files are compressed.']
      : ['fail', `${loose.length} text files are not compressed.`, shown(loose.map(({ url }) => url))]
  }),
  rule('caching', 6, ({ resources }) => {
    const short = own(resources).filter((one) => keepable.test(one.type) && (cacheSeconds(one) ?? 0) < WEEK_S)
    return short.length === 0
      ? ['pass', 'Static files are cached for at least a week.']
      : ['warn', `${short.length} static files are cached for less than a week.`, shown(short.map(({ url }) => url))]
  }),
  rule('weight', 8, ({ resources }) => {
    const bytes = weightOf(resources)
    return bytes <= HEAVY_BYTES
      ? ['pass', `The page weighs ${bytes} bytes.`]
      : ['fail', `The page weighs ${bytes} bytes (recommended: at most ${HEAVY_BYTES}).`]
  }),
  rule('requests', 4, ({ resources: { length } }) =>
    length <= MANY_REQUESTS
      ? ['pass', `The page makes ${length} requests.`]
      : ['warn', `The page makes ${length} requests.`],
  ),
  rule('rest', 4, ({ loaded: { timed_out } }) =>
    timed_out
      ? ['warn', 'The page was still making requests when the measurement ended.']
      : ['pass', 'All requests finished before the measurement ended.'],
  ),
  rule('image_sizes', 4, ({ timings: { images } }) => {
    const loose = images.filter(({ sized }) => !sized)
    if (images.length === 0) return undefined
    return loose.length === 0
      ? ['pass', 'All images declare width and height.']
      : ['warn', `${loose.length} images declare no width and height.`, shown(loose.map(({ src }) => src))]
  }),
  rule('oversized_images', 5, ({ timings: { images } }) => {
    const large = images.filter(({ excess }) => excess > EXCESS)
    if (images.length === 0) return undefined
    return large.length === 0
      ? ['pass', 'No image is much larger than its displayed size.']
      : [
          'warn',
          `${large.length} images are much larger than their displayed size.`,
          shown(large.map(({ src }) => src)),
        ]
  }),
  rule('redirects', 3, ({ loaded: { redirects } }) =>
    redirects.length === 0
      ? ['pass', 'There are no redirects before the page.']
      : ['warn', `There are ${redirects.length} redirects before the page.`, shown(redirects.map(({ to }) => to))],
  ),
  rule('long_tasks', 8, ({ timings: { tbt_ms, long_tasks } }) => {
    const message = `${long_tasks} long tasks; total blocking time ${tbt_ms} ms.`
    if (tbt_ms > TASKS_MS[1]) return ['fail', message]
    return tbt_ms > TASKS_MS[0] ? ['warn', message] : ['pass', message]
  }),
  rule('layout_shifts', 8, ({ timings: { cls } }) => {
    const message = `Cumulative layout shift is ${cls}.`
    if (cls > SHIFTS[1]) return ['fail', message]
    return cls > SHIFTS[0] ? ['warn', message] : ['pass', message]
  }),
  rule('server_time', 5, ({ timings: { ttfb_ms } }) =>
    ttfb_ms <= SLOW_ANSWER_MS
      ? ['pass', `The server responds within ${ttfb_ms} ms.`]
      : ['warn', `The server takes ${ttfb_ms} ms to respond.`],
  ),
  rule('http2', 2, ({ resources, loaded }) => {
    if (!loaded.final_url.startsWith('https:')) return undefined
    const old = resources.filter(({ protocol }) => protocol.startsWith('http/1'))
    return old.length === 0
      ? ['pass', 'All responses use HTTP/2 or later.']
      : ['warn', `${old.length} responses use HTTP/1.`, shown(old.map(({ url }) => url))]
  }),
  rule('third_parties', 3, ({ resources, loaded }) => {
    const [theirs, all] = [thirdPartyBytes(resources, loaded.final_url), weightOf(resources)]
    return theirs <= all * HALF
      ? ['pass', `${theirs} of ${all} bytes come from other sites.`]
      : ['warn', `${theirs} of ${all} bytes come from other sites.`]
  }),
  rule('fonts', 2, ({ resources }) => {
    const fonts = resources.filter(({ type }) => type === 'Font').length
    return fonts <= MANY_FONTS ? ['pass', `The page loads ${fonts} fonts.`] : ['warn', `The page loads ${fonts} fonts.`]
  }),
]

function shown(urls: readonly string[]): string {
  return urls.slice(0, MAX_SHOWN).join(' ')
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
