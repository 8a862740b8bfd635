import type { Json } from '../../../../src/core/json.ts'
import { checkAddress } from '../docs/pages.ts'
import { judgeBy, shownFindings } from '../service/findings.ts'
import { AUTOMATED_MS, defineService, textOf } from '../service/service.ts'
import { engineOf } from './opened.ts'
import { busyNote, type Device, measure, type PageSpeed, speedScore } from './speed.ts'
import { cacheSeconds, speedRules, thirdPartyBytes, weightOf } from './speed-rules.ts'

const MAX_RESOURCES = 50
const MAX_URL_CHARS = 500

/** Measures how fast a page is on desktop and on a throttled phone, and why. */
export const performanceAnalysis = defineService({
  slug: 'performance_analysis',
  needs: ['browser'],
  timeoutMs: AUTOMATED_MS,
  check: checkAddress('site_url'),
  async read(input, ctx) {
    // Each run has a new browser, so that the runs share no cache.
    const run = (device: Device) => measure(ctx, { input, field: 'site_url', device }, async (_, speed) => speed)
    const desktop = await run('desktop')
    const mobile = await run('mobile')
    return { desktop, mobile, at: ctx.now(), engine: engineOf(ctx) }
  },
  make(input, { desktop, mobile, at, engine }): Json {
    const { findings, undecided } = judgeBy(speedRules, desktop)
    const scores = { desktop: speedScore(desktop.timings, 'desktop'), mobile: speedScore(mobile.timings, 'mobile') }
    return {
      site_url: textOf(input, 'site_url').trim(),
      final_url: desktop.loaded.final_url,
      score: Math.round((scores.desktop + scores.mobile) / 2),
      scores,
      metrics: { desktop: shownMetrics(desktop), mobile: shownMetrics(mobile) },
      resources: resourcesOf(desktop),
      ...shownFindings(findings),
      not_checked: [
        ...undecided,
        ...busyNote([desktop.load, mobile.load]),
        'the speed index (the other four metrics share its weight)',
        'variation between runs (each viewport was measured once)',
        'interactions after the page loaded',
      ],
      checked_at: new Date(at).toISOString(),
      engine: { ...engine },
    }
  },
})

export function shownMetrics({ timings, resources, loaded, blocked, load }: PageSpeed) {
  const { blocking, images, long_tasks, ...times } = timings
  return {
    ...times,
    machine_load: Math.round(load * 100) / 100,
    long_tasks,
    requests: resources.length,
    blocked_requests: blocked,
    bytes: weightOf(resources),
    decoded_bytes: resources.reduce((sum, { decodedBytes }) => sum + decodedBytes, 0),
    third_party_bytes: thirdPartyBytes(resources, loaded.final_url),
    images: images.length,
    render_blocking: blocking.length,
    timed_out: loaded.timed_out,
  }
}

function resourcesOf({ resources, timings }: PageSpeed): Json[] {
  const heaviest = [...resources].sort((a, b) => b.bytes - a.bytes).slice(0, MAX_RESOURCES)
  return heaviest.map((one) => ({
    url: one.url.slice(0, MAX_URL_CHARS),
    type: one.type.toLowerCase(),
    status: one.status ?? null,
    bytes: Math.round(one.bytes),
    decoded_bytes: one.decodedBytes,
    ms: one.endedAt === undefined ? null : Math.round(one.endedAt - one.startedAt),
    render_blocking: timings.blocking.includes(one.url),
    cache_s: cacheSeconds(one),
    encoding: one.headers['content-encoding'] ?? null,
    protocol: one.protocol,
  }))
}
