import { x402Facilitator } from '@x402/core/facilitator'
import { type FacilitatorClient, HTTPFacilitatorClient } from '@x402/core/server'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as FacilitatorScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { NETWORK, paidServer } from './paid-server.ts'
import { argument, serveHttp } from './serve.ts'

// The published x402 server, settling by itself on a chain or through a facilitator; nothing else differs.
const { asset, payTo, rpc, key, facilitator } = argument<{
  asset: `0x${string}`
  payTo: string
  rpc: string
  key: `0x${string}`
  /** Address of a facilitator; without one it settles by itself. */
  facilitator?: string
}>()
const POLL_MS = 10

const client = facilitator === undefined ? itself() : new HTTPFacilitatorClient({ url: facilitator })
await serveHttp(paidServer(client, { asset, payTo, answer: { paid: true } }))

function itself(): FacilitatorClient {
  const account = privateKeyToAccount(key)
  const wallet = createWalletClient({ account, chain: base, transport: http(rpc), pollingInterval: POLL_MS })
  const signer = { ...wallet.extend(publicActions), address: account.address }
  const settling = new x402Facilitator().register(
    NETWORK,
    new FacilitatorScheme(toFacilitatorEvmSigner(signer as unknown as Parameters<typeof toFacilitatorEvmSigner>[0])), // what its documentation builds it from
  )
  return {
    verify: (payload, requirements) => settling.verify(payload, requirements),
    settle: (payload, requirements) => settling.settle(payload, requirements),
    getSupported: async () => settling.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>, // its networks are plain strings
  }
}
