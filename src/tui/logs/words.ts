import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { PaymentFault } from '../../core/payment-fault.ts'
import { accent, bad, dim, good, type Piece, warn } from '../parts/line.ts'

export type Answered = WireAnswer<Api['listRequests']>['requests'][number]

const named = (word: Piece, ...names: readonly (keyof Api)[]) => names.map((name) => [name, word] as const)

/** What successful requests did. Requests that are not listed here are named by their method. */
const did = new Map<PropertyKey, Piece>([
  ...named(
    good('● bought'),
    'purchaseService',
    'purchaseProduct',
    'siteAudit',
    'securityPatch',
    'contentWrite',
    'seoOptimize',
    'designUpdate',
    'maintenancePlan',
    'acceptPrice',
  ),
  ...named(good('✓ awarded'), 'awardPosting'),
  ...named(good('✓ verified'), 'verifyJob', 'verifyThread'),
  ...named(bad('? disputed'), 'disputeJob', 'disputeThread'),
  ...named(good('● reported'), 'updateJob', 'updateThread'),
  ...named(good('● wrote'), 'postJobMessage', 'postThreadMessage', 'answerForHouse'),
  ...named(good('● attached'), 'uploadThreadFile'),
  ...named(good('? asked'), 'inquire'),
  ...named(good('● found'), 'discover'),
  ...named(good('? offered'), 'proposePrice', 'createBid'),
  ...named(dim('× declined'), 'declineThread'),
  ...named(dim('– withdrawn'), 'withdrawBid'),
  ...named(dim('× cancelled'), 'cancelPosting', 'cancelSubscription'),
  ...named(good('● listed'), 'createService', 'createProduct', 'createPlan'),
  ...named(good('● posted'), 'createPosting'),
  ...named(good('● joined'), 'register', 'onboardProvider'),
  ...named(warn('● new key'), 'rotateKey'),
  ...named(good('● linked'), 'linkIdentity'),
  ...named(good('✓ agreed'), 'acceptTerms'),
  ...named(good('● subscribed'), 'subscribe'),
  ...named(warn('‖ paused'), 'pauseSubscription', 'pausePlatform', 'pauseEscrow', 'pauseCron'),
  ...named(good('● resumed'), 'resumeSubscription', 'resumeCron'),
  ...named(good('+ paid in'), 'deposit'),
  ...named(good('→ paid out'), 'withdrawBalance', 'withdrawReferrals'),
  ...named(good('+ funded'), 'openFaucet', 'faucet'),
  ...named(good('● tested'), 'testService'),
  ...named(good('● resent'), 'replayDelivery', 'replayForOperator'),
  ...named(warn('● exported'), 'getExport'),
  ...named(warn('● copied'), 'getBackup'),
  ...named(good('● trading'), 'unpausePlatform', 'unpauseEscrow'),
  ...named(good('✓ ran'), 'runCron'),
  ...named(warn('● moved'), 'moveClock'),
  ...named(good('✓ decided'), 'resolveJob', 'decideVerification'),
  ...named(warn('↩ gave back'), 'withdrawJob'),
  ...named(warn('● adjusted'), 'adjustBalance'),
  ...named(warn('× blocked'), 'addSanction'),
  ...named(good('● unblocked'), 'removeSanction'),
])

const because: Readonly<Partial<Record<ErrorCode | PaymentFault, Piece>>> = {
  payment_required: warn('? asked to pay'),
  missing: warn('? asked to pay'),
  insufficient_funds: warn('! no money'),
  insufficient_balance: warn('! no money'),
  nonce_used: warn('! paid before'),
  duplicate_settlement: warn('! paid before'),
  expired: warn('! too late'),
  wallet_blocked: bad('× blocked'),
  payer_blocked: bad('× blocked'),
  sanctioned: bad('× blocked'),
  terms_required: warn('× no terms'),
  registration_required: warn('× a stranger'),
  quote_required: warn('! no price'),
  paused: warn('‖ paused'),
  deferred: dim('× off'),
  provider_failed: bad('✗ not served'),
}

const byStatus: Readonly<Record<number, Piece>> = {
  400: warn('! not valid'),
  401: warn('× no key'),
  402: warn('! not paid'),
  403: warn('× refused'),
  404: dim('– not there'),
  409: warn('! not now'),
  413: warn('! too large'),
  429: warn('! too often'),
  503: warn('! not ready'),
}

const undone: Readonly<Record<string, Piece>> = {
  released: dim('× not charged'),
  refunded: dim('↩ refunded'),
  reversed: bad('✗ undone'),
}

/** What a request did, or why it failed, as symbol and word. */
export function askedWord({ endpoint, method, status, code, remembered }: Answered): Piece {
  const state = own(undone, code)
  if (status === null) return state ?? (remembered === 'part' ? dim('– not known') : accent('● under way'))
  if (status >= 400)
    return own(because, code) ?? own(byStatus, status) ?? (status >= 500 ? bad('✗ broken') : warn('× refused'))
  return state ?? did.get(endpoint ?? '') ?? own(plainWords, method) ?? good('✓ done')
}

const plainWords: Readonly<Record<string, Piece>> = {
  GET: good('✓ read'),
  HEAD: good('✓ read'),
  OPTIONS: good('✓ read'),
  DELETE: good('✓ removed'),
  PUT: good('✓ changed'),
}

/** Looks up a word of the API that this version may not know. */
function own<K extends PropertyKey>(
  table: Readonly<Partial<Record<K, Piece>>>,
  name: PropertyKey | null,
): Piece | undefined {
  return name !== null && Object.hasOwn(table, name) ? table[name as K] : undefined // a key of it
}
