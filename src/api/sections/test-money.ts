import { z } from 'zod'
import { Address, Amount } from '../../core/codecs.ts'
import { defineEndpoint, json, jsonBody, open } from '../endpoint/define.ts'

export const testMoneyApi = {
  openFaucet: defineEndpoint({
    path: '/v1/faucet',
    access: open,
    origin: 'ours',
    section: 'Test money',
    body: jsonBody({ wallet: Address }),
    reply: json({
      wallet: Address,
      credited: Amount,
      balance: Amount,
      transaction: z.string(),
      remaining_today: Amount.meta({ description: 'amount left for this wallet today' }),
    }),
    errors: ['invalid_request', 'forbidden', 'rate_limited', 'unavailable'],
    summary: 'test USDC to a wallet, bounded; sandbox and devnet only',
  }),
}
