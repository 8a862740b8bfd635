import { defineCommand } from '../../src/cli/command.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { formatAmount } from '../../src/core/money.ts'
import { bold } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'trust onchain',
  summary: 'show the on-chain reputation of a wallet ($0.005)',
  description: 'Summarises the feedback to its ERC-8004 identity and the anchors of its verdicts.',
  args: z.object({ wallet: z.string().meta({ description: 'address, participant id or wallet name' }) }),
  examples: ['souk trust onchain p_0123456789abcdef', 'souk trust onchain p_0123456789abcdef --json'],
  async run(context) {
    const session = await context.session()
    const params = { wallet: context.args.wallet }
    const { answer: found, payment } = await pay(context, session, {
      endpoint: 'getOnchainReputation',
      asked: { params },
    })
    const { method, amount } = payment
    return { ...found, call_payment: { method, amount: formatAmount(amount), asset: 'USDC' } }
  },
  view(data, io) {
    const { wallet, agent_id: agent, agent_registry: registry, summaries, anchors, call_payment: paid } = data
    io.line(`${bold(wallet)}   ${agent === null ? 'no identity is linked' : `agent ${agent} of ${registry}`}`)
    printRows(
      io,
      [
        { title: 'TAG', value: ({ tag1 }) => tag1 },
        { title: 'TYPE', value: ({ tag2 }) => (tag2 === '' ? 'all' : tag2) },
        { title: 'COUNT', value: ({ count }) => count, align: 'right' },
        { title: 'MEAN', value: ({ value, value_decimals: decimals }) => value / 10 ** decimals, align: 'right' },
      ],
      summaries,
    )
    for (const { seq, root, anchored_at: at } of anchors) io.line(`anchor ${seq}   ${root}   ${at}`)
    io.note(`  paid $${paid.amount} for the call`)
  },
})
