import type { WireAnswer } from '../api/index.ts'
import { isAddress } from '../core/hex.ts'
import { SUSPENDED_WORD, tierWords } from '../model/state-words.ts'
import { shortAddress } from '../text/text.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { bad, dim, good, statesOf } from './tones.ts'

/** Display name: the name, else the id, else a shortened wallet. */
export function partyOf(name?: string | null, id?: string | null): string {
  const shown = name || id || ''
  return isAddress(shown) ? shortAddress(shown) : shown
}

/** A participant, with members that only the operator gets. */
export type SeenParticipant = WireAnswer<'getParticipant'> &
  Partial<Pick<WireAnswer<'setParticipant'>, 'balance' | 'suspended_at' | 'referred_by'>>

const tiers = statesOf(tierWords, { unverified: dim('–'), email_verified: good('✓'), identity_verified: good('✓') })

export const person: Noun<SeenParticipant> = {
  name: 'participant',
  plural: 'people',
  list: 'listParticipants',
  none: 'nobody',
  source: ['everyone who registers is listed', 'souk account register'],
  idOf: (one) => one.id,
  nameOf: (one) => one.name || shortAddress(one.wallet),
  stateOf: ({ suspended_at }) => (suspended_at ? bad(`‖ ${SUSPENDED_WORD}`) : dim('● open')),
  columns: [
    column.id('ID', (one) => one.id),
    column.name('NAME', (one) => one.name || shortAddress(one.wallet), { plain: (one) => one.name }),
    column.word('TYPE', ({ type }) => type, { drop: 2 }),
    column.word('TIER', ({ verification_tier: tier }) => tier, { drop: 1, on: ['own', 'all'] }),
    column.word('TIER', ({ verification_tier: tier }) => tiers[tier], { drop: 1, on: ['screen'] }),
    column.word('WALLET', ({ wallet }) => wallet, { drop: 3, on: ['own'] }),
    column.money('BALANCE', ({ balance }) => balance && `$${balance.available}`, { on: ['all', 'screen'] }),
    column.money('HELD', ({ balance }) => balance && `$${balance.held}`, { drop: 5, on: ['screen'] }),
    column.time('SUSPENDED', ({ suspended_at }) => suspended_at, { on: ['all'] }),
    column.age(({ created_at }) => created_at, 4),
  ],
  facts: (one) => [
    ['wallet', one.wallet],
    ['came', `${one.created_at}${one.referred_by ? `, by ${one.referred_by}` : ''}`],
    ['suspended', one.suspended_at ? `since ${one.suspended_at}` : ''],
  ],
}
