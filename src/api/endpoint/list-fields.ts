import type { ListFields } from '../../core/filter.ts'
import { deliveryStates } from '../../model/delivery.ts'
import { jobStatuses, jobWords, LATE_WORD, paymentMethods } from '../../model/job.ts'
import { heldKinds, heldWords } from '../../model/ledger.ts'
import { billingPeriods, fulfillmentTypes, serviceTypes, webhookStatuses } from '../../model/service.ts'
import {
  attemptWords,
  BLOCKED_WORD,
  ENDING_WORD,
  payoutWords,
  SUSPENDED_WORD,
  subscriptionWords,
  threadWords,
  tierWords,
} from '../../model/state-words.ts'
import {
  attemptStatuses,
  participantTypes,
  payoutKinds,
  payoutStates,
  shownProductStatuses,
  subscriptionStatuses,
  threadStatuses,
  tiers,
} from '../../model/words.ts'

const text = { kind: 'text' } as const
const money = { kind: 'money' } as const
const count = { kind: 'count' } as const
const age = { kind: 'age' } as const
const flag = { kind: 'flag' } as const
const oneOf = (choices: readonly string[], words: Readonly<Record<string, string>> = {}) =>
  ({ kind: 'choice', choices, words }) as const
const shownAs = (word: string) => ({ kind: 'flag', word }) as const

/** Buyer and provider match by name, id and wallet; `late`: past the promised time; `open`: not final. */
export const jobFields = {
  id: text,
  status: oneOf(jobStatuses, jobWords),
  service: text,
  buyer: text,
  provider: text,
  amount: money,
  age,
  late: shownAs(LATE_WORD),
  open: flag,
  paid_by: oneOf(paymentMethods),
} as const satisfies ListFields

/** `amount`: price for the buyer; `age`: time since the last change. */
export const threadFields = {
  id: text,
  status: oneOf(threadStatuses, threadWords),
  service: text,
  buyer: text,
  provider: text,
  amount: money,
  age,
} as const satisfies ListFields

/** `price`: for the buyer; `reputation`: provider's score; `hook`: endpoint health; `sold`: sales of the last week. */
export const serviceFields = {
  id: text,
  name: text,
  provider: text,
  category: text,
  tag: text,
  kind: oneOf(fulfillmentTypes),
  type: oneOf(serviceTypes),
  price: money,
  reputation: count,
  sold: count,
  verified: flag,
  hook: oneOf(webhookStatuses),
  age,
} as const satisfies ListFields

/** `price`: per period; `subscribers`: number of active subscriptions. */
export const planFields = {
  id: text,
  name: text,
  provider: text,
  period: oneOf(billingPeriods),
  price: money,
  subscribers: count,
  age,
} as const satisfies ListFields

/** `ending`: cancelled, but active until the period ends; `failed`: number of failed charges for the due period. */
export const subscriptionFields = {
  id: text,
  status: oneOf(subscriptionStatuses, subscriptionWords),
  plan: text,
  buyer: text,
  provider: text,
  period: oneOf(billingPeriods),
  amount: money,
  ending: shownAs(ENDING_WORD),
  failed: count,
  age,
} as const satisfies ListFields

/** `budget`: the poster's maximum. */
export const postingFields = {
  id: text,
  title: text,
  category: text,
  poster: text,
  budget: money,
  bids: count,
  subcontract: flag,
  age,
} as const satisfies ListFields

/** `price`: for the buyer; `sold`: total number of sales. */
export const productFields = {
  id: text,
  name: text,
  provider: text,
  category: text,
  status: oneOf(shownProductStatuses),
  price: money,
  sold: count,
  age,
} as const satisfies ListFields

/** `due`: earned, but not paid out yet; `paid`: paid out. */
export const payeeFields = {
  id: text,
  name: text,
  wallet: text,
  sold: money,
  due: money,
  paid: money,
  earned: money,
} as const satisfies ListFields

export const participantFields = {
  id: text,
  name: text,
  wallet: text,
  type: oneOf(participantTypes),
  tier: oneOf(tiers, tierWords),
  suspended: shownAs(SUSPENDED_WORD),
  balance: money,
  age,
} as const satisfies ListFields

export const payoutFields = {
  id: text,
  status: oneOf(payoutStates, payoutWords),
  kind: oneOf(payoutKinds),
  wallet: text,
  amount: money,
  blocked: shownAs(BLOCKED_WORD),
  error: text,
  age,
} as const satisfies ListFields

export const holdFields = {
  account: text,
  kind: oneOf(heldKinds, heldWords),
  owner: text,
  amount: money,
  reason: text,
} as const satisfies ListFields

export const verificationFields = {
  id: text,
  status: oneOf(attemptStatuses, attemptWords),
  participant: text,
  operator: text,
  age,
} as const satisfies ListFields

export const deliveryFields = {
  id: text,
  status: oneOf(deliveryStates),
  type: text,
  provider: text,
  service: text,
  url: text,
  job: text,
  reason: text,
  age,
} as const satisfies ListFields

export const actFields = {
  act: text,
  subject: text,
  actor: text,
  reason: text,
  changed: flag,
  age,
} as const satisfies ListFields
