import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import type { ReputationAnswer } from '../../src/cli/nouns/trust.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { green, red, yellow } from '../../src/text/text.ts'

/** Wallets of one request. */
const BATCH = 20
const MAX_SCORE = 100

const colors: Partial<Record<ReputationAnswer['verdict'], (text: string) => string>> = {
  verified: green,
  degraded: yellow,
  failed: red,
}

const columns: readonly Column<ReputationAnswer>[] = [
  { title: 'WALLET', value: ({ wallet }) => wallet },
  {
    title: 'VERDICT',
    value: ({ verdict }) => colors[verdict]?.(verdict) ?? verdict,
    plain: ({ verdict }) => verdict,
  },
  { title: 'SCORE', value: ({ score }) => score, align: 'right' },
  { title: 'LEVEL', value: ({ level, level_name }) => `${level} ${level_name}`, drop: 1 },
  { title: 'CONF', value: ({ confidence }) => confidence.toFixed(2), align: 'right', drop: 2 },
  {
    title: 'FLAGS',
    value: ({ risk_flags, disputed }) => [...risk_flags, ...(disputed ? ['disputed'] : [])].join(' '),
    drop: 3,
  },
]

export const command = defineCommand({
  name: 'trust show',
  isDefault: true,
  summary: 'show the trust verdict on wallets',
  description:
    'A verdict is valid until its expires_at. The score is 100, 50 or 0, or absent if there is too little evidence.',
  args: z.object({
    wallets: z.array(z.string()).min(1).meta({ description: 'addresses, participant ids or wallet names' }),
  }),
  options: z.object({
    exitStatus: z
      .boolean()
      .default(false)
      .meta({ description: 'exit with code 11 unless all wallets are verified or reach --min-score' }),
    minScore: z.int().optional().meta({ description: 'lowest accepted score, with --exit-status' }),
  }),
  examples: [
    'souk trust p_0123456789abcdef',
    'souk trust p_0123456789abcdef 0x00000000000000000000000000000000000000a1 --json',
    'souk trust show p_0123456789abcdef --json --fields verdict,score',
  ],
  async run(context) {
    const { exitStatus, minScore } = context.options
    if (minScore !== undefined && !exitStatus) throw usage('--min-score needs --exit-status.')
    if (minScore !== undefined && (minScore < 0 || minScore > MAX_SCORE)) throw usage('--min-score is 0 to 100.')
    const verdicts = await verdictsOn(await context.session(), context.args.wallets)
    if (exitStatus && !verdicts.every((one) => isEnough(one, minScore))) context.exit('check_failed')
    const [only] = verdicts
    return verdicts.length === 1 && only ? only : { verdicts, total: verdicts.length }
  },
  rows: (data) => listOf(data),
  columns,
  view: (data, io) => printRows(io, columns, listOf(data)),
})

type Shown = ReputationAnswer | { readonly verdicts: readonly ReputationAnswer[]; readonly total: number }

function listOf(data: Shown): readonly ReputationAnswer[] {
  return 'verdicts' in data ? data.verdicts : [data]
}

function isEnough({ verdict, score }: ReputationAnswer, least: number | undefined): boolean {
  return least === undefined ? verdict === 'verified' : score !== null && score >= least
}

async function verdictsOn(session: Session, wallets: readonly string[]): Promise<ReputationAnswer[]> {
  const [only] = wallets
  if (wallets.length === 1 && only) {
    return [await session.call('getReputation', { params: { wallet: only } })]
  }
  const found: ReputationAnswer[] = []
  for (let from = 0; from < wallets.length; from += BATCH) {
    const body = { wallets: wallets.slice(from, from + BATCH) }
    const { verdicts } = await session.call('getReputations', { body })
    found.push(...verdicts)
  }
  return found
}
