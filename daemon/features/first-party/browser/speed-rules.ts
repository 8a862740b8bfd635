import { parse as parseName } from 'tldts'
import type { PageResource } from '../../../ports/browser/traffic.ts'
import type { Rule } from '../service/findings.ts'
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
  {
    id: 'render_blocking',
    weight: 10,
    judge: ({ timings: { blocking } }) =>
      blocking.length === 0
        ? ['pass', 'No files block the first paint.']
        : ['fail', `${blocking.length} files block the first paint.`, shown(blocking)],
  },
  {
    id: 'compression',
    weight: 8,
    judge: ({ resources }) => {
      const loose = own(resources).filter(
        ({ type, headers, decodedBytes }) =>
          packable.test(type) && decodedBytes > SMALL_BYTES && headers['content-encoding'] === undefined,
      )
      return loose.length === 0
        ? ['pass', 'Text files are compressed.']
        : ['fail', `${loose.length} text files are not compressed.`, shown(loose.map(({ url }) => url))]
    },
  },
  {
    id: 'caching',
    weight: 6,
    judge: ({ resources }) => {
      const short = own(resources).filter((one) => keepable.test(one.type) && (cacheSeconds(one) ?? 0) < WEEK_S)
      return short.length === 0
        ? ['pass', 'Static files are cached for at least a week.']
        : ['warn', `${short.length} static files are cached for less than a week.`, shown(short.map(({ url }) => url))]
    },
  },
  {
    id: 'weight',
    weight: 8,
    judge: ({ resources }) => {
      const bytes = weightOf(resources)
      return bytes <= HEAVY_BYTES
        ? ['pass', `The page weighs ${bytes} bytes.`]
        : ['fail', `The page weighs ${bytes} bytes (recommended: at most ${HEAVY_BYTES}).`]
    },
  },
  {
    id: 'requests',
    weight: 4,
    judge: ({ resources: { length } }) =>
      length <= MANY_REQUESTS
        ? ['pass', `The page makes ${length} requests.`]
        : ['warn', `The page makes ${length} requests.`],
  },
  {
    id: 'rest',
    weight: 4,
    judge: ({ loaded: { timed_out } }) =>
      timed_out
        ? ['warn', 'The page was still making requests when the measurement ended.']
        : ['pass', 'All requests finished before the measurement ended.'],
  },
  {
    id: 'image_sizes',
    weight: 4,
    judge: ({ timings: { images } }) => {
      const loose = images.filter(({ sized }) => !sized)
      if (images.length === 0) return undefined
      return loose.length === 0
        ? ['pass', 'All images declare width and height.']
        : ['warn', `${loose.length} images declare no width and height.`, shown(loose.map(({ src }) => src))]
    },
  },
  {
    id: 'oversized_images',
    weight: 5,
    judge: ({ timings: { images } }) => {
      const large = images.filter(({ excess }) => excess > EXCESS)
      if (images.length === 0) return undefined
      return large.length === 0
        ? ['pass', 'No image is much larger than its displayed size.']
        : [
            'warn',
            `${large.length} images are much larger than their displayed size.`,
            shown(large.map(({ src }) => src)),
          ]
    },
  },
  {
    id: 'redirects',
    weight: 3,
    judge: ({ loaded: { redirects } }) =>
      redirects.length === 0
        ? ['pass', 'There are no redirects before the page.']
        : ['warn', `There are ${redirects.length} redirects before the page.`, shown(redirects.map(({ to }) => to))],
  },
  {
    id: 'long_tasks',
    weight: 8,
    judge: ({ timings: { tbt_ms, long_tasks } }) => {
      const message = `${long_tasks} long tasks; total blocking time ${tbt_ms} ms.`
      if (tbt_ms > TASKS_MS[1]) return ['fail', message]
      return tbt_ms > TASKS_MS[0] ? ['warn', message] : ['pass', message]
    },
  },
  {
    id: 'layout_shifts',
    weight: 8,
    judge: ({ timings: { cls } }) => {
      const message = `Cumulative layout shift is ${cls}.`
      if (cls > SHIFTS[1]) return ['fail', message]
      return cls > SHIFTS[0] ? ['warn', message] : ['pass', message]
    },
  },
  {
    id: 'server_time',
    weight: 5,
    judge: ({ timings: { ttfb_ms } }) =>
      ttfb_ms <= SLOW_ANSWER_MS
        ? ['pass', `The server responds within ${ttfb_ms} ms.`]
        : ['warn', `The server takes ${ttfb_ms} ms to respond.`],
  },
  {
    id: 'http2',
    weight: 2,
    judge: ({ resources, loaded }) => {
      if (!loaded.final_url.startsWith('https:')) return undefined
      const old = resources.filter(({ protocol }) => protocol.startsWith('http/1'))
      return old.length === 0
        ? ['pass', 'All responses use HTTP/2 or later.']
        : ['warn', `${old.length} responses use HTTP/1.`, shown(old.map(({ url }) => url))]
    },
  },
  {
    id: 'third_parties',
    weight: 3,
    judge: ({ resources, loaded }) => {
      const [theirs, all] = [thirdPartyBytes(resources, loaded.final_url), weightOf(resources)]
      return theirs <= all * HALF
        ? ['pass', `${theirs} of ${all} bytes come from other sites.`]
        : ['warn', `${theirs} of ${all} bytes come from other sites.`]
    },
  },
  {
    id: 'fonts',
    weight: 2,
    judge: ({ resources }) => {
      const fonts = resources.filter(({ type }) => type === 'Font').length
      return fonts <= MANY_FONTS
        ? ['pass', `The page loads ${fonts} fonts.`]
        : ['warn', `The page loads ${fonts} fonts.`]
    },
  },
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
