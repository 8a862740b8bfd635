import type { ScreenId } from '../../model/screen.ts'
import { span } from '../../text/text.ts'
import { type CronFacts, cronState } from '../shell/cron-facts.ts'
import { type HealthFacts, paidDoors } from '../shell/health.ts'

/** Something that wants somebody, read off what the instance reports about itself. */
export type Attention = {
  readonly id: string
  readonly grave: boolean
  readonly kind: string
  readonly name: string
  readonly what: string
  /** Where more is to be seen. */
  readonly screen: ScreenId
}

type Now = {
  /** Business time, where it is known. */
  readonly business: number | undefined
}

/** The gravest first. */
export function attentionOf(health: HealthFacts, { business }: Now): Attention[] {
  const found = [
    ...pauseNotice(health, business),
    ...health.crons.flatMap((cron) => cronNotice(cron, business)),
    ...sdnNotice(health),
  ]
  return [...found.filter(({ grave }) => grave), ...found.filter(({ grave }) => !grave)]
}

function pauseNotice(health: HealthFacts, business: number | undefined): Attention[] {
  if (!health.paused) return []
  const { pausedAt } = health
  const since = pausedAt === undefined || business === undefined ? '' : `for ${span(business - pausedAt)}, `
  const closed = paidDoors(health).filter(({ status }) => status === 'paused').length
  const what = `${since}${closed} paid doors answer 503`
  return [{ id: 'paused', grave: false, kind: 'platform', name: 'paused', what, screen: 'endpoints' }]
}

function cronNotice(cron: CronFacts, business: number | undefined): Attention[] {
  const state = cronState(cron)
  if (state !== 'failing' && state !== 'stale') return []
  const ok = lastOkWords(cron, business)
  const what = state === 'failing' ? `its last run failed, ${ok}` : `stale, ${ok}`
  return [{ id: `cron ${cron.name}`, grave: state === 'failing', kind: 'cron', name: cron.name, what, screen: 'crons' }]
}

function lastOkWords(cron: CronFacts, business: number | undefined): string {
  if (cron.lastSuccess === undefined) return 'never succeeded'
  if (business !== undefined) return `last success ${span(business - cron.lastSuccess)} ago`
  return cron.ageMs === undefined ? 'last success unknown' : `last success ${span(cron.ageMs)} ago`
}

function sdnNotice({ sdn }: HealthFacts): Attention[] {
  if (!sdn.stale) return []
  return [{ id: 'sdn', grave: false, kind: 'list', name: 'sanctions', what: 'the list is stale', screen: 'crons' }]
}
