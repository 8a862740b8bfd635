import type { z } from 'zod'
import type { Api } from '../index.ts'

type FieldsOf<E> = E extends { body: { kind: 'json'; schema: infer S extends z.ZodType } }
  ? z.input<S>
  : E extends { body: { kind: 'multipart'; fields: infer F extends z.ZodType } }
    ? z.input<F>
    : never

const service = 'svc_0123456789abcdef'
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
const hash = `0x${'5f'.repeat(32)}`
/** What a server of the second generation passes on of a payment. */
const facilitated: FieldsOf<Api['verifyPayment']> = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    resource: { url: 'https://shop.example/report' },
    accepted: {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '10000',
      asset: wallet,
      payTo: wallet,
      maxTimeoutSeconds: 60,
      extra: { name: 'USD Coin', version: '2' },
    },
    payload: {
      signature: `0x${'5f'.repeat(65)}`,
      authorization: {
        from: wallet,
        to: wallet,
        value: '10000',
        validAfter: '0',
        validBefore: '1769860860',
        nonce: hash,
      },
    },
  },
  paymentRequirements: {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: '10000',
    asset: wallet,
    payTo: wallet,
    maxTimeoutSeconds: 60,
    extra: { name: 'USD Coin', version: '2' },
  },
}
const listing: FieldsOf<Api['createService']> = {
  name: 'Word count',
  description: 'Counts the words of a text.',
  price: '0.50',
  fulfillment_type: 'automated',
  estimated_delivery: '5 minutes',
  category: 'text',
  tags: ['text'],
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  deliverable_schema: { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] },
}
const dispute = { reason: 'Half of it is missing.', category: 'quality' } as const
const delivery = { status: 'completed', deliverables: { words: 3 }, notes: 'Counted twice.' } as const
const order = { text: 'one two three' }
const why = { reason: 'the chain is slow' }

/** A body for each endpoint that takes one; held against its schema by a test. */
export const bodyExamples: { readonly [N in keyof Api]?: FieldsOf<Api[N]> } = {
  createService: listing,
  updateService: { price: '0.75', status: 'inactive' },
  purchaseService: order,
  siteAudit: { site_url: 'https://example.com' },
  securityPatch: { site_url: 'https://example.com' },
  contentWrite: { topic: 'Bees' },
  seoOptimize: { site_url: 'https://example.com' },
  designUpdate: { site_url: 'https://example.com' },
  maintenancePlan: { site_url: 'https://example.com' },
  inquire: { brief: { text: 'A book of 300 pages. How much?' } },
  register: { name: 'Word agent', type: 'agent' },
  onboardProvider: { name: 'Counter', services: [listing] },
  updateParticipant: { description: 'Counts words.', links: { home: 'https://example.com/' }, listable: true },
  linkIdentity: { agent_registry: `eip155:8453:${wallet}`, agent_id: 0 },
  consentToVerification: { token: 'from-the-consent-url', operator_name: 'Ada Lovelace', agree: true },
  receiveVendorCallback: { session_id: 'vs_1', decision: 'approved' },
  acceptTerms: { version: '2026-01-01' },
  postThreadMessage: { message: 'Which edition?' },
  uploadThreadFile: { message: 'The manuscript.' },
  proposePrice: { price: '2.00', message: 'By hand.', estimated_delivery: '3 days' },
  acceptPrice: {},
  declineThread: { reason: 'Found it myself.' },
  updateThread: delivery,
  verifyThread: { rating: 5, comment: 'Well done.' },
  disputeThread: dispute,
  postJobMessage: { message: 'When?' },
  answerForHouse: { message: 'Ten pages are fine.' },
  verifyJob: { rating: 5 },
  disputeJob: dispute,
  updateJob: { status: 'in_progress', progress: 50 },
  createPlan: { name: 'All words', price: '10.00', billing_period: 'monthly', service_ids: [service] },
  updatePlan: { price: '12.00' },
  cancelSubscription: { at_period_end: true },
  resumeSubscription: { keep: true },
  createPosting: { title: 'Count a book', brief: order, category: 'text', budget_max_usd: 20 },
  createBid: { price_usd: '8.00', eta_hours: 24, service_id: service, pitch: 'I count by hand.' },
  awardPosting: { bid_id: 'bid_0123456789abcdef' },
  setPostingNotifications: { min_budget_usd: 5, categories: ['text'] },
  createProduct: { name: 'A book', price: '5.00', category: 'books' },
  updateProduct: { price: '4.00' },
  purchaseProduct: {},
  deposit: { amount: '5.00' },
  setNamedService: { from: 'link_preview', price: '5.00' },
  withdrawBalance: { amount: '5.00' },
  withdrawReferrals: { to: 'wallet' },
  getReputations: { wallets: [wallet] },
  recordTrace: {
    event: {
      id: 'attempt-1',
      at: '2026-01-31T11:59:31Z',
      intent: {
        id: 'intent-1',
        payer: wallet,
        pay_to: wallet,
        amount: '10000',
        asset: wallet,
        network: 'base',
        resource: 'https://shop.example/v1/report',
        method: 'POST',
        nonce: hash,
        expires_at: '2026-01-31T12:00:00Z',
      },
      decision: null,
      outcome: 'abandoned',
      source: 'sdk',
    },
  },
  recordEvent: { event: 'subject_view' },
  pausePlatform: why,
  unpausePlatform: {},
  pauseEscrow: why,
  unpauseEscrow: {},
  setFeatures: { checkout_v2: true, reason: 'the new checkout is there' },
  moveClock: { advance_ms: 3_600_000 },
  resolveJob: { outcome: 'split', buyer_amount: '0.20', reason: 'half of it is there' },
  withdrawJob: { reason: 'the provider is gone' },
  adjustBalance: { amount: '-2.50', reason: 'booked twice' },
  addSanction: { wallet, reason: 'court order' },
  faucet: { wallet, amount: '10.00' },
  openFaucet: { wallet },
  verifyPayment: facilitated,
  settlePayment: facilitated,
  setParticipant: { verification_tier: 'email_verified', reason: 'met in person' },
  decideVerification: { decision: 'approved', reason: 'papers seen' },
}
