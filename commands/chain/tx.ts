import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { bold, cyan, green, red, yellow } from '../../src/text/text.ts'

const MAX_ID_CHARS = 80

type Item = { from: string; to: string; amount: string; nonce: string; state: string }

const columns: readonly Column<Item>[] = [
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'FROM', value: ({ from }) => from },
  { title: 'TO', value: ({ to }) => to, drop: 1 },
  { title: 'AUTHORIZATION', value: ({ nonce }) => nonce, drop: 2 },
]

export const command = defineCommand({
  name: 'chain tx',
  summary: 'show one transaction of the gas key: contents and outcome',
  description: 'ID is the transaction id, its nonce, or any of its hashes. Needs the admin key of the instance.',
  args: z.object({
    id: z.string().min(1).max(MAX_ID_CHARS).meta({ description: 'id, nonce or hash of the transaction' }),
  }),
  examples: [
    'souk chain tx 0xfedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210',
    'souk chain tx 0xfedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210 --json',
  ],
  async run(context) {
    const { transactions } = await (await context.session()).call('getChain', { query: { tx: context.args.id } })
    const [found] = transactions
    if (!found) throw new Error('the instance answered without the transaction that was asked for')
    return found
  },
  view({ id, state, ok, hashes, mined, block, max_fee, sent_at, included_at, call, to, items = [] }, io) {
    const ended = ok === false ? red('✗') : green('✓')
    io.line(`${ok === null ? yellow('●') : ended} ${bold(id)}   ${state}${ok === false ? ', reverted' : ''}`)
    io.line(`  sent      ${sent_at}   at most ${max_fee} gwei a unit of gas`)
    if (block !== null) io.line(`  in block  ${block}   ${included_at ?? ''}`)
    for (const hash of hashes) io.line(`  hash      ${hash === mined ? cyan(hash) : hash}`)
    io.line(`  calls     ${to}${call === null ? '' : `   ${call}`}`)
    if (items.length > 0) printRows(io, columns, items)
  },
})
