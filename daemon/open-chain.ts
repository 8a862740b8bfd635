import { AppError } from '../src/core/error.ts'
import type { Wallet } from '../src/core/hex.ts'
import type { Config } from '../src/model/start.ts'
import { type ChainPort, isOwn } from './ports/chain/chain.ts'
import type { EvmStart } from './ports/chain/evm/start/keys.ts'
import type { StartedChain } from './ports/chain/evm/start/open.ts'
import { chainHomes } from './ports/chain/evm/start/rows.ts'
import { openSandboxChain } from './ports/chain/sandbox/chain.ts'
import { sandboxTokens } from './ports/chain/sandbox/ledger.ts'
import type { Store } from './store/port.ts'

type Parts = Omit<EvmStart, 'mode' | 'setup' | 'dataDir'> & { readonly config: Config }

export type OpenedChain = Pick<StartedChain, 'notes' | 'close'> & { readonly chain: ChainPort }

/**
 * Opens the chain of the data folder. The chain cannot change, because debts are recorded on it.
 * @throws AppError when another chain is requested; all errors of starting the chain
 */
export async function openChain(parts: Parts): Promise<OpenedChain> {
  const { config, store } = parts
  const began = await beganOn(store)
  const { chain: mode } = config
  if (began !== undefined && began !== mode) {
    const sentence = `This data folder was created with --chain ${began}: use another --instance or --data for --chain ${mode}.`
    throw new AppError('conflict', sentence)
  }
  const opened = await openMode(parts)
  const { coldAddress } = config
  if (coldAddress === undefined || !isKey(opened.chain, coldAddress)) return opened
  await opened.close()
  throw new AppError(
    'invalid_request',
    '--cold-address is a key of this marketplace: use a wallet whose key is offline.',
  )
}

function isKey(chain: ChainPort, address: Wallet): boolean {
  return isOwn(chain, address) || chain.status?.().gas?.address === address
}

async function openMode(parts: Parts): Promise<OpenedChain> {
  const { config } = parts
  const { chain: mode } = config
  if (mode === 'sandbox') return { chain: await openSandboxChain(parts), notes: [], close: async () => undefined }
  // The module is loaded only for a connected chain.
  const { startEvm } = await import('./ports/chain/evm/start/open.ts')
  const setup = config.chainSetup ?? { rpcUrls: [] }
  return startEvm({ ...parts, mode, setup, dataDir: config.dataDir })
}

async function beganOn(store: Store): Promise<Config['chain'] | undefined> {
  const home = await store.table(chainHomes).get('chain')
  if (home) return home.mode
  return (await store.table(sandboxTokens).get('token')) ? 'sandbox' : undefined
}
