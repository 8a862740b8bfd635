import type { WireAnswer } from '../../api/index.ts'
import type { Asked, Callable } from '../../client/asked.ts'
import { passedOn, readAnswer } from '../../client/call.ts'
import { errorOf, type RawAnswer } from '../../client/exchange.ts'
import type { accountFromKey } from '../../client/pay.ts'
import type { NamedWallet } from '../../client/wallets.ts'
import { checksumAddress } from '../../core/hex.ts'
import { formatPrice, ZERO } from '../../core/money.ts'
import { harmless } from '../../text/text.ts'
import { type RawCall, type Session, type SessionHost, saysWho } from '../session.ts'
import { quote } from './paying.ts'

const UNAUTHORIZED = 401
const PAYMENT_REQUIRED = 402

/** Reads without paying. A challenge works once, so each read may sign in. A passphrase is asked for only once. */
export type FreeReader = <K extends string>(name: K & Callable, asked: Asked<K>) => Promise<WireAnswer<K> | undefined>

/**
 * Returns a reader that never pays. It reads without signing in first, and signs in if that is refused. It returns
 * undefined if a payment or an account is needed.
 */
export function freeReader(host: SessionHost, session: Session): FreeReader {
  const accountOf = once(host)
  const accept = [UNAUTHORIZED, PAYMENT_REQUIRED]
  async function read(call: RawCall): Promise<RawAnswer | undefined> {
    const first = await session.send({ ...call, headers: { ...call.headers }, accept })
    if (!accept.includes(first.status)) return first
    const fresh = await signedIn(session, { call, first }, accountOf)
    const answer =
      fresh === undefined ? first : await session.send({ ...call, headers: { ...call.headers, ...fresh }, accept })
    if (answer.status === UNAUTHORIZED && (fresh !== undefined || saysWho(call.headers))) throw errorOf(answer)
    if (accept.includes(answer.status)) return undefined
    return answer
  }
  return async (name, asked) => {
    const { opens: _opens, ...call } = passedOn(name, asked)
    const answer = await read(call)
    return answer && readAnswer(name, answer.body)
  }
}

type AccountOf = (wallet: NamedWallet) => ReturnType<typeof accountFromKey>

/** Returns a function that gives the wallet's account. The key is unlocked on the first call, and kept. */
function once(host: SessionHost): AccountOf {
  let opened: ReturnType<AccountOf> | undefined
  return (wallet) => {
    opened ??= import('./paying.ts').then(async ({ unlock }) => {
      const { accountFromKey: open } = await import('../../client/pay.ts')
      return open(await unlock(host, wallet))
    })
    return opened
  }
}

type Refused = { readonly call: RawCall; readonly first: RawAnswer }

/** The sign-in header; undefined without a wallet, with another credential, or if the challenge names another URL. */
async function signedIn(session: Session, { call, first }: Refused, accountOf: AccountOf) {
  const wallet = saysWho(call.headers) ? undefined : await session.wallet()
  if (wallet === undefined) return undefined
  const { signIn } = await import('../../client/sign-in.ts')
  return signIn({
    answer: { ...first, headers: { get: (name) => first.headers[name.toLowerCase()] ?? null } },
    url: session.target.url + call.path,
    account: {
      address: checksumAddress(wallet.address),
      signMessage: async (text) => (await accountOf(wallet)).signMessage(text),
    },
  })
}

/** A request that costs money, and what is shown before it is sent. */
type Shown = RawCall & { readonly title: string; readonly input: Readonly<Record<string, unknown>> }

/** Shows the request and its cost, and asks the user to agree. @returns the host, with the shown cost as its limit */
export async function agreedTo<H extends SessionHost>(host: H, session: Session, { title, input, ...call }: Shown) {
  const { io, globals } = host
  const offer = await quote(session, call)
  const price = offer?.price ?? ZERO
  const parts = Object.entries(input).map(([name, value]) => `  ${name} = ${JSON.stringify(value)}`)
  for (const line of [title, ...parts]) io.say(harmless(line))
  const wallet = (await session.wallet())?.name
  const from = wallet === undefined ? '' : ` from ${wallet}`
  await io.confirm(`Pay ${formatPrice(price)}${offer === undefined ? '' : ` to ${offer.payTo}`}${from}?`)
  return { ...host, globals: { ...globals, maxPrice: price < globals.maxPrice ? price : globals.maxPrice } }
}
