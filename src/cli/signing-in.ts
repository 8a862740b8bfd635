import { checksumAddress } from '../core/hex.ts'
import { type Answer, type Call, errorOf, type Session, type SessionHost } from './session.ts'

const UNAUTHORIZED = 401
const PAYMENT_REQUIRED = 402

/** A call that a sign-in of the wallet may open; it never pays. */
export type FreeCall = Call & { readonly method: 'GET' }

/** Remembers a sign-in for as long as the instance takes it: a passphrase is asked for once. */
export type FreeReader = (call: FreeCall) => Promise<Answer | undefined>

/**
 * Reads what needs a key or a payment without paying: as the call stands, else signed in by the wallet where the
 * instance offers that. The reader gives undefined where only money, or an account, would do.
 */
export function freeReader(host: SessionHost, session: Session): FreeReader {
  let signed: Readonly<Record<string, string>> = {}
  const accept = [UNAUTHORIZED, PAYMENT_REQUIRED]
  return async (call) => {
    const first = await session.call({ ...call, headers: { ...call.headers, ...signed }, accept })
    if (!accept.includes(first.status)) return first
    const fresh = await signedIn(host, session, { call, first })
    const answer =
      fresh === undefined ? first : await session.call({ ...call, headers: { ...call.headers, ...fresh }, accept })
    if (answer.status === UNAUTHORIZED && (fresh !== undefined || hasCredential(call))) throw errorOf(answer)
    if (accept.includes(answer.status)) return undefined
    signed = fresh ?? signed
    return answer
  }
}

type Refused = { readonly call: FreeCall; readonly first: Answer }

/** undefined for whoever has no wallet, sent another credential, or is asked to sign for somewhere else. */
async function signedIn(host: SessionHost, session: Session, { call, first }: Refused) {
  const wallet = hasCredential(call) ? undefined : await session.wallet()
  if (wallet === undefined) return undefined
  const { signIn } = await import('../client/sign-in.ts')
  const { accountFromKey } = await import('../client/pay.ts')
  const { unlock } = await import('./paying.ts')
  return signIn({
    answer: { ...first, headers: { get: (name) => first.headers[name.toLowerCase()] ?? null } },
    url: session.target.url + call.path,
    account: {
      address: checksumAddress(wallet.address),
      signMessage: async (text) => (await accountFromKey(await unlock(host, wallet))).signMessage(text),
    },
  })
}

function hasCredential({ headers = {} }: Call): boolean {
  return ['authorization', 'x-api-key'].some((name) => headers[name] !== undefined)
}
