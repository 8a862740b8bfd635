import type { LocalToken } from '../../src/api/endpoint/published-clients.ts'
import { checksumAddress } from '../../src/core/hex.ts'
import { isTestMoney } from '../ports/chain/chain.ts'
import type { Context } from './context.ts'

/** The token that published clients have to be told of; undefined where it is the USDC that they know. */
export function localToken({ chain, baseUrl }: Pick<Context, 'chain' | 'baseUrl'>): LocalToken | undefined {
  if (!isTestMoney(chain)) return undefined
  return { asset: checksumAddress(chain.asset.address), network: chain.network, url: baseUrl() }
}
