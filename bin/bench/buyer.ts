import { randomBytes } from 'node:crypto'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { PaymentRequiredV2, toBase64, x402Headers } from '../../src/api/x402.ts'
import { authorizationTypes } from '../../src/core/authorization.ts'
import { isAddress, type Wallet } from '../../src/core/hex.ts'
import { requestBytes } from './load.ts'

const MILLISECONDS_A_SECOND = 1_000
const NONCE_BYTES = 32

export function newBuyers(count: number): PrivateKeyAccount[] {
  return Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
}

export function walletOf({ address }: PrivateKeyAccount): Wallet {
  return address.toLowerCase() as Wallet // an address of viem
}

/** A request that costs money. */
export type Priced = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

type Offer = { readonly required: PaymentRequiredV2; readonly accepted: PaymentRequiredV2['accepts'][number] }

/** What the server's 402 asks for, in the second generation that both servers speak. */
export async function offerOf({ url, method, path, body }: Priced): Promise<Offer> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }),
  })
  const header = response.headers.get(x402Headers.requiredV2)
  if (header === null) throw new Error(`${path} answered ${response.status}, not a 402: ${await response.text()}`)
  const required = PaymentRequiredV2.parse(JSON.parse(Buffer.from(header, 'base64').toString()))
  const [accepted] = required.accepts
  if (!accepted) throw new Error(`the 402 of ${path} offers nothing`)
  return { required, accepted }
}

/** Value of the payment header: an authorization with a fresh nonce, signed for an offer. */
export async function sign(buyer: PrivateKeyAccount, { required, accepted }: Offer): Promise<string> {
  const { payTo, asset, extra } = accepted
  if (!isAddress(payTo) || !isAddress(asset)) throw new Error('the 402 has no addresses')
  const authorization = {
    from: buyer.address,
    to: payTo,
    value: BigInt(accepted.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / MILLISECONDS_A_SECOND) + accepted.maxTimeoutSeconds),
    nonce: `0x${randomBytes(NONCE_BYTES).toString('hex')}` as const,
  }
  const signature = await buyer.signTypedData({
    domain: { name: String(extra?.name), version: String(extra?.version), chainId: 8453, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  const words = Object.fromEntries(Object.entries(authorization).map(([name, value]) => [name, String(value)]))
  const payload = { signature, authorization: words }
  return toBase64({ x402Version: 2, resource: required.resource, accepted, payload })
}

/** Paid requests ready to be sent, the buyers in turn. */
export async function signedRequests(
  priced: Priced,
  buyers: readonly PrivateKeyAccount[],
  count: number,
): Promise<Buffer[]> {
  const offer = await offerOf(priced)
  const requests: Buffer[] = []
  for (let index = 0; index < count; index += 1) {
    const buyer = buyers[index % buyers.length] as PrivateKeyAccount // within bounds
    requests.push(requestBytes({ ...priced, headers: { [x402Headers.paymentV2]: await sign(buyer, offer) } }))
  }
  return requests
}
