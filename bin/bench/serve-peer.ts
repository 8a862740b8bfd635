import { x402Facilitator } from '@x402/core/facilitator'
import type { FacilitatorClient } from '@x402/core/server'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as FacilitatorScheme } from '@x402/evm/exact/facilitator'
import { createPublicClient, http } from 'viem'
import { base } from 'viem/chains'
import { NETWORK, paidServer } from './paid-server.ts'
import { argument, serveHttp } from './serve.ts'

// The published x402 server: it verifies each payment, keeps nothing, and its settlement is a stub.
const { asset, payTo, rpc, answer } = argument<{
  asset: `0x${string}`
  payTo: string
  /** JSON-RPC address of the chain; without one the chain is a few functions in memory. */
  rpc?: string
  answer: unknown
}>()
const STUB_TRANSACTION = `0x${'11'.repeat(32)}`

type Signer = Parameters<typeof toFacilitatorEvmSigner>[0]

const facilitator = new x402Facilitator().register(
  NETWORK,
  new FacilitatorScheme(toFacilitatorEvmSigner(rpc === undefined ? memoryChain() : rpcChain(rpc))),
)
const client: FacilitatorClient = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: async () => ({ success: true, transaction: STUB_TRANSACTION, network: NETWORK }),
  getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>, // its networks are plain strings
}
await serveHttp(await paidServer(client, { asset, payTo, answer }))

function rpcChain(url: string): Signer {
  const chain = createPublicClient({ chain: base, transport: http(url) })
  return { ...memoryChain(), getCode: chain.getCode, readContract: (call) => chain.readContract(call) }
}

function memoryChain(): Signer {
  return {
    address: '0x00000000000000000000000000000000000000aa',
    getCode: async ({ address }) => (address.toLowerCase() === asset.toLowerCase() ? '0x60' : undefined),
    readContract: async () => undefined,
    verifyTypedData: never,
    writeContract: never,
    sendTransaction: never,
    waitForTransactionReceipt: never,
  }
}

/** Verification recovers the signer itself, and settlement is stubbed above. */
async function never(): Promise<never> {
  throw new Error('verification alone does not ask for this')
}
