import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { chosenWallet } from '../../src/cli/nouns/wallets.ts'
import * as z from '../../src/cli/params.ts'
import { offerOf, signPayment as signOffer, unlock } from '../../src/cli/wallet/paying.ts'
import { wordsOf } from '../../src/client/call.ts'
import type { RawAnswer } from '../../src/client/exchange.ts'
import type { NamedWallet } from '../../src/client/wallets.ts'
import { isAddress } from '../../src/core/hex.ts'
import { isObject } from '../../src/core/json.ts'
import { formatAmount, formatPrice, parseAmount, ZERO } from '../../src/core/money.ts'

const PAYMENT_REQUIRED = 402
/** Recorded in place of a paid request: a payment signed by this command belongs to no request. */
const SIGNED_HERE = { method: 'POST', path: '/' } as const

const options = z.object({
  to: z.text({ description: 'payee (with x402)', value: 'address' }),
  amount: z.text({ description: 'amount (with x402)', value: 'usd' }),
})
type Context = CommandContext<{ what: 'x402' | 'message'; text?: string | undefined }, z.output<typeof options>>

export const command = defineCommand({
  name: 'wallet sign',
  summary: 'sign a payment or a message with the wallet and print the signature',
  description:
    '`x402` prints a payment header in the token of the instance, within --max-price. Keep it private: anyone with it can take the money. `message` signs a text (EIP-191); - reads the text from stdin.',
  args: z.object({
    what: z.enum(['x402', 'message']).meta({ description: 'x402 or message' }),
    text: z.text({ description: 'message to sign' }),
  }),
  options,
  examples: [
    'souk wallet sign x402 --to 0x00000000000000000000000000000000000000a1 --amount 0.50',
    'souk wallet sign message "I am here" --json',
  ],
  async run(context) {
    const wallet = chosenWallet(context.places, context.globals.as)
    return context.args.what === 'message' ? signMessage(context, wallet) : signPayment(context, wallet)
  },
  view(data, io) {
    if ('signature' in data) io.line(data.signature)
    else for (const [name, value] of Object.entries(data.headers)) io.line(`${name}: ${value}`)
  },
})

async function signMessage(context: Context, wallet: NamedWallet) {
  const { args, options: given, io } = context
  if (args.text === undefined || given.to !== undefined || given.amount !== undefined) {
    throw usage('Give the text to sign: souk wallet sign message "TEXT".', { next: ['souk wallet sign --help'] })
  }
  const message = args.text === '-' ? await io.stdin() : args.text
  const { accountFromKey } = await import('../../src/client/pay.ts')
  const account = await accountFromKey(await unlock(context, wallet))
  return { wallet: wallet.address, message, signature: await account.signMessage({ message }) }
}

async function signPayment(context: Context, wallet: NamedWallet) {
  const { to, amount: text } = context.options
  const amount = text === undefined ? undefined : parseAmount(text)
  if (
    context.args.text !== undefined ||
    to === undefined ||
    !isAddress(to) ||
    amount === undefined ||
    amount === ZERO
  ) {
    throw usage('Give the payee and the amount: --to ADDRESS --amount 0.50.', { next: ['souk wallet sign --help'] })
  }
  const { maxPrice } = context.globals
  if (amount > maxPrice) {
    throw usage(`${formatPrice(amount)} is above the limit of ${formatPrice(maxPrice)}.`, {
      next: [`… --max-price ${formatAmount(amount)}`],
    })
  }
  const session = await context.session()
  // The token, its name and the network come from the instance's own offer, not from the user.
  const asked = await session.send({ ...wordsOf('discover', {}), accept: [PAYMENT_REQUIRED] })
  const first = { ...asked, headers: {}, body: asking(asked, { to, amount }) }
  // Anyone who has the signature can use it, so its amount counts as spent.
  const { signed } = await signOffer(context, session, { wallet, first, limit: maxPrice, call: SIGNED_HERE })
  const { headers } = signed
  const { network, asset, validSeconds } = await offerOf(first)
  return {
    wallet: wallet.address,
    to,
    amount: formatAmount(amount),
    asset,
    network,
    valid_seconds: validSeconds,
    headers,
  }
}

function asking({ body }: RawAnswer, { to, amount }: { to: string; amount: bigint }): unknown {
  const accepts: readonly unknown[] = isObject(body) && Array.isArray(body.accepts) ? body.accepts : []
  const entry = isObject(accepts[0]) ? accepts[0] : {}
  return { ...(isObject(body) ? body : {}), accepts: [{ ...entry, payTo: to, maxAmountRequired: String(amount) }] }
}
