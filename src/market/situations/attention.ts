import { randomBytes } from 'node:crypto'
import { CliError } from '../../cli/exit.ts'
import { DAY_MS, HOUR_MS, unixSeconds } from '../../core/time.ts'
import type { AttentionKind } from '../../model/words.ts'
import { transportTo } from '../hand.ts'
import { marketSituations, unserved } from './market.ts'
import { earningsBlocked, GONE, soldTo } from './people.ts'
import { found, type Makeable, made, type Scene, type Situation, visitor } from './scene.ts'
import { story, workSituations } from './work.ts'

const BROKEN = 500
const NONCE_BYTES = 32
const PAYMENT_SECONDS = 60
/** A token that this marketplace does not settle, and a signature that it does not get to check. */
const [OTHER_TOKEN, SIGNATURE] = [`0x${'ab'.repeat(20)}`, `0x${'00'.repeat(65)}`]
/** So dear that an hour of it is worth some cents. */
const DEAR = '30.00'
const OLD_MS = 31 * DAY_MS

/** A shop that is set up for another token asks for the verification of its buyer's payment. */
async function wrongToken({ stage, cast }: Scene): Promise<void> {
  const entry = {
    ...{ scheme: 'exact', network: 'base', asset: OTHER_TOKEN, payTo: cast.inkwell.address },
    ...{ maxAmountRequired: '10000', maxTimeoutSeconds: PAYMENT_SECONDS, resource: 'https://shop.example/weather' },
  }
  const authorization = {
    ...{ from: cast.bot7.address, to: cast.inkwell.address, value: '10000', validAfter: '0' },
    validBefore: String(unixSeconds(stage.wall()) + PAYMENT_SECONDS),
    nonce: `0x${randomBytes(NONCE_BYTES).toString('hex')}`,
  }
  const payment = { scheme: 'exact', network: 'base', payload: { signature: SIGNATURE, authorization } }
  await cast.inkwell.call('verifyPayment', {
    body: { x402Version: 1, paymentPayload: payment, paymentRequirements: entry },
  })
}

/** Sells to an endpoint that is gone. The seller has another one as soon as the message is given up. */
async function deadDelivery(scene: Scene): Promise<void> {
  const { url } = await scene.sink()
  const seller = await soldTo(scene, GONE)
  await found('a dead delivery', async () => {
    const { deliveries } = await seller.call('listDeliveries', { query: { status: 'dead' } })
    return deliveries[0]
  })
  await seller.call('updateParticipant', { params: { id: seller.id }, body: { webhook_url: url } })
}

async function unservedHour(scene: Scene): Promise<void> {
  await unserved({ ...scene, told: { price: DEAR, ...scene.told } })
  await scene.advance(HOUR_MS)
}

/** Deposits more than the pay-to wallet should hold. */
async function tooMuch(scene: Scene): Promise<void> {
  const { hot_ceiling: ceiling } = await scene.operator.call('getAlarms', {})
  if (ceiling === null) {
    throw new CliError('conflict', 'There is no ceiling that a deposit could pass.', {
      next: ['souk down', 'souk up --hot-ceiling 10.00'],
    })
  }
  const who = await visitor(scene)
  await scene.operator.call('faucet', { body: { wallet: who.address, amount: ceiling } })
  await who.pay('deposit', { body: { amount: ceiling } })
  await who.pay('deposit', { body: { amount: '1.00' } })
}

async function oldBackup(scene: Scene): Promise<void> {
  const { adminKey } = scene.stage
  const headers = { authorization: `Bearer ${adminKey}` }
  const answer = await transportTo(scene.stage)({ method: 'GET', path: '/dashboard/api/admin/backup', headers })
  for await (const _ of answer.file());
  await scene.advance(OLD_MS)
}

/** Pauses a cron and forgets it. `act` happens then. */
const forgotten = (cron: string, moves: number, act?: Makeable): Situation =>
  made(
    async (scene) => {
      await scene.operator.call('pauseCron', { params: { name: cron } })
      await act?.make(scene)
      await scene.advance(moves)
    },
    { moves },
  )

const later = (first: Makeable, moves: number): Makeable => ({
  ...first,
  moves,
  async make(scene) {
    await first.make(scene)
    await scene.advance(moves)
  },
})

/** For each kind of problem: how to cause one, or why it is impossible. `once`: there is at most one. */
export const attentionSituations: Readonly<Record<AttentionKind, Situation & { readonly once?: true }>> = {
  platform: {
    ...made(
      ({ operator, told }) =>
        operator.call('pausePlatform', { body: { reason: told.reason ?? 'The bank is closed.' } }),
      { sets: ['reason'] },
    ),
    once: true,
  },
  escrow: { ...made(({ operator }) => operator.call('pauseEscrow', { body: {} })), once: true },
  journal: { why: 'it needs a machine that loses power while it writes', next: 'souk doctor' },
  disk: { why: 'it needs a full disk', next: 'souk doctor --only disk' },
  chain: { ...made(wrongToken), once: true },
  reversed: {
    why: 'it needs a chain that reverts a settled payment, which the sandbox cannot do',
    next: 'souk up --instance chain --chain devnet',
  },
  hot_balance: { ...made(tooMuch), once: true },
  payout: made(earningsBlocked),
  dispute: workSituations['job.disputed'],
  overdue: { ...story(undefined, { ware: 'palette', moves: 2 * HOUR_MS }), about: [] },
  stuck: forgotten('escrow-monitor', 2 * DAY_MS + HOUR_MS, workSituations['job.completed']),
  unserved_period: made(unservedHour, { moves: HOUR_MS, sets: ['price'] }),
  past_due: marketSituations['subscription.past_due'],
  inquiry: later(workSituations['thread.inquiry'], DAY_MS + HOUR_MS),
  delivery: made(deadDelivery),
  endpoint: made((scene) => soldTo(scene, BROKEN)),
  cron: { ...forgotten('reputation', HOUR_MS), once: true },
  engine: { why: 'it depends on the programs of this machine', next: 'souk doctor --only engines' },
  sanctions_list: { ...forgotten('ofac-sdn-refresh', 2 * DAY_MS + HOUR_MS), once: true },
  alarm: { why: 'it needs a target that fails; a failed test shows the same', next: 'souk admin alarms test' },
  certificate: {
    why: 'it needs a certificate at its end, and the time of the machine cannot be moved',
    next: 'souk doctor --only upkeep',
  },
  backup: { ...made(oldBackup, { moves: OLD_MS }), once: true },
}
