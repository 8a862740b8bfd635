import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { PaymentFault } from '../../core/payment-fault.ts'
import { accent, bad, dim, good, type Piece, warn } from '../parts/line.ts'

export type Answered = WireAnswer<Api['listRequests']>['requests'][number]

/** What successful requests did. Those not listed are named by their method. */
const did: Readonly<Partial<Record<keyof Api, Piece>>> = {
  purchaseService: good('● bought'),
  purchaseProduct: good('● bought'),
  siteAudit: good('● bought'),
  securityPatch: good('● bought'),
  contentWrite: good('● bought'),
  seoOptimize: good('● bought'),
  designUpdate: good('● bought'),
  maintenancePlan: good('● bought'),
  acceptPrice: good('● bought'),
  awardPosting: good('✓ awarded'),
  verifyJob: good('✓ verified'),
  verifyThread: good('✓ verified'),
  disputeJob: warn('? disputed'),
  disputeThread: warn('? disputed'),
  updateJob: good('● reported'),
  updateThread: good('● reported'),
  postJobMessage: good('● wrote'),
  postThreadMessage: good('● wrote'),
  answerForHouse: good('● wrote'),
  uploadThreadFile: good('● attached'),
  inquire: good('? asked'),
  discover: good('● found'),
  proposePrice: good('? offered'),
  createBid: good('? offered'),
  declineThread: dim('× declined'),
  withdrawBid: dim('– withdrawn'),
  cancelPosting: dim('× cancelled'),
  createService: good('● listed'),
  createProduct: good('● listed'),
  createPlan: good('● listed'),
  createPosting: good('● posted'),
  register: good('● joined'),
  onboardProvider: good('● joined'),
  rotateKey: warn('● new key'),
  linkIdentity: good('● linked'),
  acceptTerms: good('✓ agreed'),
  subscribe: good('● subscribed'),
  cancelSubscription: dim('× cancelled'),
  pauseSubscription: warn('‖ paused'),
  resumeSubscription: good('● resumed'),
  deposit: good('+ paid in'),
  withdrawBalance: good('→ paid out'),
  withdrawReferrals: good('→ paid out'),
  openFaucet: good('+ funded'),
  faucet: good('+ funded'),
  testService: good('● tested'),
  replayDelivery: good('● resent'),
  replayForOperator: good('● resent'),
  getExport: warn('● exported'),
  getBackup: warn('● copied'),
  pausePlatform: warn('‖ paused'),
  pauseEscrow: warn('‖ paused'),
  pauseCron: warn('‖ paused'),
  unpausePlatform: good('● trading'),
  unpauseEscrow: good('● trading'),
  resumeCron: good('● resumed'),
  runCron: good('● ran'),
  moveClock: warn('● moved'),
  resolveJob: good('✓ decided'),
  decideVerification: good('✓ decided'),
  withdrawJob: warn('↩ gave back'),
  adjustBalance: warn('● adjusted'),
  addSanction: warn('× blocked'),
  removeSanction: good('● unblocked'),
}

const because: Readonly<Partial<Record<ErrorCode | PaymentFault, Piece>>> = {
  payment_required: warn('? asked to pay'),
  missing: warn('? asked to pay'),
  insufficient_funds: warn('! no money'),
  insufficient_balance: warn('! no money'),
  nonce_used: warn('! paid before'),
  duplicate_settlement: warn('! paid before'),
  expired: warn('! ran out'),
  wallet_blocked: bad('× blocked'),
  payer_blocked: bad('× blocked'),
  sanctioned: bad('× blocked'),
  terms_required: warn('× no terms'),
  registration_required: warn('× a stranger'),
  quote_required: warn('! no price'),
  paused: warn('‖ paused'),
  deferred: dim('‖ off'),
  provider_failed: bad('✗ not served'),
}

const byStatus: Readonly<Record<number, Piece>> = {
  400: warn('! not valid'),
  401: warn('× no key'),
  402: warn('! not taken'),
  403: warn('× refused'),
  404: dim('– not there'),
  409: warn('! not now'),
  413: warn('! too large'),
  429: warn('! too often'),
  503: warn('! not ready'),
}

const undone: Readonly<Record<string, Piece>> = {
  released: dim('× not charged'),
  refunded: warn('↩ refunded'),
  reversed: bad('✗ undone'),
}

/** What a request did, or why it failed, as symbol and word. */
export function askedWord({ endpoint, method, status, code, remembered }: Answered): Piece {
  const state = own(undone, code)
  if (status === null) return state ?? (remembered === 'part' ? dim('– not known') : accent('● under way'))
  if (status >= 400)
    return own(because, code) ?? own(byStatus, status) ?? (status >= 500 ? bad('✗ broken') : warn('× refused'))
  return state ?? own(did, endpoint) ?? own(plainWords, method) ?? good('✓ done')
}

const plainWords: Readonly<Record<string, Piece>> = {
  GET: good('✓ read'),
  HEAD: good('✓ read'),
  OPTIONS: good('✓ read'),
  DELETE: good('✓ removed'),
  PUT: good('✓ changed'),
}

/** Looks up a word of the API, which may be unknown to this version. */
function own<K extends PropertyKey>(
  table: Readonly<Partial<Record<K, Piece>>>,
  name: PropertyKey | null,
): Piece | undefined {
  return name !== null && Object.hasOwn(table, name) ? table[name as K] : undefined // a key of it
}
