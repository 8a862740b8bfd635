import type { z } from 'zod'
import { api, endpointNames } from '../../../src/api/index.ts'
import type { referralsApi } from '../../../src/api/sections/referrals.ts'
import { formatAmount, usdc } from '../../../src/core/money.ts'
import { REFERRAL_AGENT_BPS, REFERRAL_PROVIDER_BPS } from '../ledger/split.ts'

/** Least referral money that can be withdrawn (decisions §11). */
export const MIN_WITHDRAWAL = usdc(1_000_000n)
const CODE_FORMAT = 'ref_<participant id>'
const BPS_PER_PCT = 100

export const referralCode = (participantId: string) => `ref_${participantId}`

/** What the program says about itself; health shows a part of it. */
export const program: z.output<typeof referralsApi.getReferralProgram.reply.schema> = {
  enabled: true,
  description: 'Whoever refers an agent or a provider earns a share of the platform fees on its sales.',
  currency: 'USDC',
  rates: {
    agent_pct: Number(REFERRAL_AGENT_BPS) / BPS_PER_PCT,
    provider_pct: Number(REFERRAL_PROVIDER_BPS) / BPS_PER_PCT,
  },
  minimum_withdrawal: MIN_WITHDRAWAL,
  rules: [
    'The share is of the listing fee of each sale, floored to atomic units of USDC.',
    'Both sides of a sale may have been referred: then both shares apply.',
    'It goes on for as long as the referred one trades.',
    'What a sale earned is payable with the next hourly run of referral-rewards.',
    `From $${formatAmount(MIN_WITHDRAWAL)} on, all that is payable moves to the balance.`,
  ],
  participation: {
    how_to_refer: `Give your code ${CODE_FORMAT} to who registers with referral_code.`,
    code_format: CODE_FORMAT,
    endpoints: [...new Set(endpointNames.map((name) => api[name].path).filter((path) => path.includes('/referrals')))],
  },
}
