import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { WireAnswer } from '../api/index.ts'
import type { Asked, Callable } from '../client/asked.ts'
import { passedOn, readAnswer, type Words } from '../client/call.ts'
import { dispatched, MAX_PRICE_HEADER, type RawAnswer, responseOf, settled, withHeaders } from '../client/exchange.ts'
import {
  accountFromKey,
  askedBy,
  type Chosen,
  chooseOffer,
  type PayingAccount,
  type SignedPayment,
} from '../client/pay.ts'
import type { Hold } from '../client/spending/gate.ts'
import { createTransport, type InTheClear, type Transport } from '../client/transport.ts'
import type { Hex } from '../core/hex.ts'
import { formatAmount, MAX_AMOUNT } from '../core/money.ts'
import { unixSeconds } from '../core/time.ts'

/** A local endpoint with a fixed response. */
export type Sink = { readonly url: string; readonly close: () => Promise<void> }

/** @param status - response (default: 200) */
export async function openSink(status = 200): Promise<Sink> {
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}/hook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const PAYMENT_REQUIRED = 402
const FIRST_ERROR = 400
const NONCE_BYTES = 32
/** The hash of this text and a wallet name is a demo user's private key. Anybody can compute the key. */
const KEY_WORDS = 'souk demo wallet of '

/** A test marketplace in which demo users act. */
export type Stage = {
  readonly url: string
  /** Pinned certificate, for https. */
  readonly fingerprint?: string | undefined
  /** What may be sent over plain HTTP. */
  readonly inTheClear?: InTheClear | undefined
  readonly adminKey: string
  /** Wall time of the marketplace, for signatures. */
  readonly wall: () => number
}

/** An actor. */
export type Person = {
  /** Wallet name. */
  readonly name: string
  readonly address: Hex
  /** Empty until registered. */
  readonly id: string
  readonly key: string
  /** Calls with the API key, if any. */
  call<K extends string>(name: K & Callable, asked: Asked<K>): Promise<WireAnswer<K>>
  pay<K extends string>(name: K & Callable, asked: Asked<K>, from?: 'x402' | 'balance'): Promise<WireAnswer<K>>
}

export type Operator = Pick<Person, 'call'>

/** The operator, who calls endpoints with the admin key. */
export function operatorOf(stage: Stage): Operator {
  const transport = transportTo(stage)
  const headers = { authorization: `Bearer ${stage.adminKey}` }
  return {
    call: async (name, asked) =>
      readAnswer(name, (await answered(transport, { ...passedOn(name, asked), headers })).body),
  }
}

export function demoKey(name: string): Hex {
  return `0x${hash('sha256', KEY_WORDS + name)}`
}

export type Known = { readonly id: string; readonly key: string }
const UNKNOWN: Known = { id: '', key: '' }

/** A demo user by wallet name. `known` has the user's account id and API key. */
export async function personAt(stage: Stage, name: string, known: Known = UNKNOWN): Promise<Person> {
  return personOf(stage, { name, secret: demoKey(name), ...known })
}

/** Authorises payments. A local wallet follows its spending policy; a demo key has no limit. */
export type Purse = {
  sign(
    chosen: Chosen,
    account: PayingAccount,
    call: Words,
  ): Promise<{ readonly signed: SignedPayment; readonly hold: Hold }>
  charge(chosen: Chosen, call: Words): Promise<Hold>
}

type Named = Known & { readonly name: string; readonly secret: Hex; readonly purse?: Purse }

export async function personOf(
  stage: Stage,
  { name, secret, id, key, purse = openPurse(stage) }: Named,
): Promise<Person> {
  const account = await accountFromKey(secret)
  const transport = transportTo(stage)
  const own: Readonly<Record<string, string>> = key === '' ? {} : { 'x-api-key': key }
  return {
    name,
    address: account.address,
    id,
    key,
    call: async (row, asked) =>
      readAnswer(
        row,
        (await answered(transport, { ...passedOn(row, asked), headers: { ...own, ...asked.headers } })).body,
      ),
    async pay(row, asked, from = 'x402') {
      // One idempotency key for all attempts of a purchase.
      const words: Words = withHeaders(passedOn(row, asked), { 'idempotency-key': randomUUID() })
      const first = await dispatched(transport, words)
      if (first.status !== PAYMENT_REQUIRED) return readAnswer(row, settled(first).body)
      const offer = offerIn(first)
      const agreed = withHeaders(words, { [MAX_PRICE_HEADER]: formatAmount(offer.price) })
      if (from === 'balance') {
        const hold = await purse.charge(offer, agreed)
        const charged = await dispatched(transport, withHeaders(agreed, { 'x-balance-auth': key }))
        // If the balance is too low, the response is 402 again, and the wallet pays instead.
        if (charged.status !== PAYMENT_REQUIRED) return readAnswer(row, taken(hold, charged).body)
        hold.refuse(true)
      }
      const { signed, hold } = await purse.sign(offer, account as PayingAccount, agreed)
      return readAnswer(row, taken(hold, await dispatched(transport, withHeaders(agreed, signed.headers))).body)
    },
  }
}

export function transportTo({ url, fingerprint, inTheClear }: Stage): Transport {
  return createTransport({
    baseUrl: url,
    fingerprint,
    inTheClear,
    headers: { accept: 'application/json', 'user-agent': 'souk-market' },
  })
}

/** The offer to sign; `chooseOffer` refuses real money. */
function offerIn(answer: RawAnswer): Chosen {
  const response = responseOf(answer)
  const asked = askedBy(response)
  if (!asked.ok) throw new Error(asked.message)
  const chosen = chooseOffer(response, { maxPrice: MAX_AMOUNT, network: 'sandbox', allowedAssets: [asked.asset] })
  if (!chosen.ok) throw new Error(chosen.message)
  return chosen
}

/** A purse that signs every payment offer, without limits, because the money is test money. */
function openPurse(stage: Stage): Purse {
  const nonce = () => `0x${randomBytes(NONCE_BYTES).toString('hex')}` as const
  return {
    sign: async (chosen, account) => {
      const signed = await chosen.sign({ account, nonce: nonce(), nowSeconds: unixSeconds(stage.wall()) })
      return { signed, hold: uncounted }
    },
    charge: async () => uncounted,
  }
}

const uncounted: Hold = {
  release: () => undefined,
  settle: () => undefined,
  refuse: () => undefined,
  keep: () => undefined,
}

/** Records the result in the hold: settled for a success, refused for an error. @throws AppError for an error */
function taken(hold: Hold, answer: RawAnswer): RawAnswer {
  if (answer.status >= FIRST_ERROR) hold.refuse(true)
  else hold.settle()
  return settled(answer)
}

async function answered(transport: Transport, words: Words): Promise<RawAnswer> {
  return settled(await dispatched(transport, words))
}
