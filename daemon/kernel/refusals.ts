import { type Area, areas } from '../../src/api/endpoint/define.ts'
import type { ErrorCode } from '../../src/core/error.ts'
import { DAY_MS } from '../../src/core/time.ts'
import type { Context } from './context.ts'
import { tally } from './tally.ts'

/** Counter group that health shows as `launch.gate_refusals_24h`. */
const GATE_REFUSALS = 'gate_refusals'

/** Error codes that count as `gate_refusals`. Only the code and the count are stored. */
const gateCodes: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'terms_required',
  'registration_required',
  'sanctioned',
  'deferred',
  'misdirected',
  'rate_limited',
  'paused',
])

/** Counts an error whose code is in `gateCodes`. Call it once per response. */
export function countRefusal(ctx: Pick<Context, 'resources'>, code: ErrorCode): void {
  if (gateCodes.has(code)) tally.of(ctx).add(GATE_REFUSALS, code)
}

const MAX_LABEL_CHARS = 40
/** Maximum number of labels shown per area. The labels with the fewest refusals are summed as `other`. */
const MAX_LABELS = 50
const OTHER = 'other'
/** First product name of a `User-Agent`, without version; comments may precede it (RFC 9110). */
const PRODUCT = /^\s*(?:\([^()]*\)\s*)*([!#$%&'*+.^_`|~0-9a-z-]+)/i

/** The client's name from its `User-Agent`, or `unknown`; for statistics only. */
export function agentLabel(userAgent: string | undefined): string {
  return (
    PRODUCT.exec(userAgent ?? '')?.[1]
      ?.slice(0, MAX_LABEL_CHARS)
      .toLowerCase() ?? 'unknown'
  )
}

const shelvedGroup = (area: Area) => `shelved_410:${area}`

/** Counts a 410 response of an endpoint that the cutover defers. */
export function countShelved(ctx: Pick<Context, 'resources'>, area: Area, userAgent: string | undefined): void {
  tally.of(ctx).add(shelvedGroup(area), agentLabel(userAgent))
}

function mostOf(counts: Readonly<Record<string, number>>): Record<string, number> {
  const { [OTHER]: others = 0, ...named } = counts
  const most = Object.entries(named).sort(([, one], [, two]) => two - one)
  const rest = most.splice(MAX_LABELS).reduce((sum, [, count]) => sum + count, others)
  return Object.fromEntries(rest === 0 ? most : [...most, [OTHER, rest]])
}

/** `/health.launch`: refusals of the last 24 hours of business time, and the dates that these hours touch. */
export function launchView(ctx: Pick<Context, 'resources' | 'clock'>) {
  const now = ctx.clock.now()
  const { lastDay } = tally.of(ctx)
  return {
    days: [now - DAY_MS, now].map((at) => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)),
    shelved_410_24h: Object.fromEntries(areas.map((area) => [area, mostOf(lastDay(shelvedGroup(area)))])),
    gate_refusals_24h: lastDay(GATE_REFUSALS),
  }
}
