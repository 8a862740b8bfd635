import type { Link } from '../../client/link.ts'
import { shortAddress } from '../../text/text.ts'
import { type CronFacts, nextRun } from '../shell/cron-facts.ts'
import { ask } from '../shell/queries.ts'

/** Payouts that failed: how many, and what is known of the newest. */
export type FailedPayouts = { readonly total: number; readonly to: string; readonly tries: number }

export const fetchFailedPayouts = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getPayouts', asked: { query: { status: 'failed', limit: '1' }, signal } },
    ({ payouts: [newest], total }): FailedPayouts => ({
      total,
      to: newest === undefined ? '' : shortAddress(newest.wallet),
      tries: newest?.attempts ?? 0,
    }),
  )

export type NextFacts = {
  readonly crons: readonly CronFacts[] | undefined
  readonly failed: FailedPayouts | undefined
  /** Business time. */
  readonly now: number | undefined
}

/** What happens next with the money of a row of the books, by the row's name; longer ways to say it first. */
export function bookNotes({ crons = [], failed, now }: NextFacts): Readonly<Record<string, readonly string[]>> {
  const next = (name: string) => nextRun(crons.find((cron) => cron.name === name) ?? NOWHERE, now)
  const said = (words: string, at: string) => (at === NEVER ? [] : [`${words} ${at === 'now' ? at : `in ${at}`}`])
  return {
    balances: ['spendable by their owners'],
    'owed to providers': said('next settlement', next('provider-settlement')),
    'payouts under way': failedWords(failed),
    fees: said('next payout', next('splitter-distribute')),
    'referral money': said('next look', next('referral-rewards')),
    'kept back': ['of sanctioned wallets'],
  }
}

const NOWHERE = { more: undefined }
const NEVER = '—'

function failedWords(failed: FailedPayouts | undefined): readonly string[] {
  if (failed === undefined || failed.total === 0) return []
  if (failed.total > 1) return [`${failed.total} failed`]
  return [`1 failed, to ${failed.to}, tried ${failed.tries} times`, '1 failed']
}
