import { randomBytes } from 'node:crypto'
import { unjudged } from '../cli/files/document.ts'
import type { SentBody } from '../client/asked.ts'
import { AppError } from '../core/error.ts'
import { formatAmount, parseAmount, type Usdc, usdc, ZERO } from '../core/money.ts'
import { type Person, personOf, type Stage } from '../market/hand.ts'

const KEY_BYTES = 32
/** Maximum number of faucet calls per wallet and day. */
const FAUCET_CALLS_MAX = 10

const TEST_MONEY: readonly string[] = ['sandbox', 'devnet']

/** A test purchase of a provider's listing. The buyer is a new wallet without an account. */
export type Practice = {
  readonly job: string
  readonly price: string
  /** The buyer's view. */
  readonly look: () => Promise<{ readonly status: string; readonly notes: string | null }>
}

/** Thrown with the reason why no test purchase is made. */
export class NoPractice extends Error {
  override readonly name = 'NoPractice'
}

type SelfTestParams = {
  /** The payment network twice: as saved on this machine, and as the instance reports it. */
  readonly modes: readonly string[]
  readonly service: string
  /** Displayed price. */
  readonly price: string | null
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Buys a service with a new wallet and money from the faucet.
 * @throws NoPractice without a fixed price or enough test money; AppError for a refusal
 */
export async function buyOnce(stage: Stage, { modes, service, price, input }: SelfTestParams): Promise<Practice> {
  const real = modes.find((mode) => !TEST_MONEY.includes(mode))
  if (real !== undefined) throw new NoPractice(`${real} has no test money, and practice never pays real money`)
  const asked = price === null ? undefined : parseAmount(price)
  if (asked === undefined) throw new NoPractice('its price is quoted in a conversation')
  const buyer = await personOf(stage, {
    name: 'practice',
    secret: `0x${randomBytes(KEY_BYTES).toString('hex')}`,
    id: '',
    key: '',
  })
  await fund(buyer, asked)
  const { job_id, access_token, amount } = await buyer.pay('purchaseService', {
    params: { id: service },
    body: unjudged<SentBody<'purchaseService'>>(input),
  })
  const headers = access_token ? { authorization: `Bearer ${access_token}` } : {}
  return {
    job: job_id,
    price: amount,
    look: async () => {
      const { status, notes = null } = await buyer.call('getJob', { params: { id: job_id }, headers })
      return { status, notes }
    },
  }
}

async function fund(buyer: Person, asked: Usdc): Promise<void> {
  let held: Usdc = ZERO
  for (let call = 0; held < asked && call < FAUCET_CALLS_MAX; call += 1) {
    const { balance } = await buyer.call('openFaucet', { body: { wallet: buyer.address } }).catch(noTestMoney)
    held = parseAmount(balance) ?? ZERO
  }
  if (held < asked)
    throw new NoPractice(`it costs ${formatAmount(usdc(asked))}, and the faucet gives ${formatAmount(held)}`)
}

function noTestMoney(error: unknown): never {
  if (error instanceof AppError) throw new NoPractice(`the faucet gives nothing: ${error.message}`)
  throw error
}
