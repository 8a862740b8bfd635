import { defineCommand } from '../../src/cli/command.ts'
import { chosenWallet } from '../../src/cli/nouns/wallets.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { readSpending, type SpendEntry } from '../../src/client/spending/ledger.ts'
import { nameOf, policyOf } from '../../src/client/spending/policy.ts'
import type { Proof } from '../../src/client/spending/proofs.ts'
import { formatAmount, parseAmount, usdc, ZERO } from '../../src/core/money.ts'
import { bold } from '../../src/text/text.ts'

const DEFAULT_SHOWN = 20
const MOST_SHOWN = 1_000

const columns: readonly Column<ReturnType<typeof shown>>[] = [
  { title: 'AT', value: ({ at }) => at },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'BY', value: ({ method }) => method, drop: 1 },
  { title: 'TO', value: ({ payee }) => payee },
  { title: 'CALL', value: ({ call }) => call, flexible: true, drop: 2 },
]

export const command = defineCommand({
  name: 'wallet spend',
  summary: 'list payments that a wallet authorised, with daily and total sums',
  description:
    'Saved on this machine. States: settled (paid), sent (no confirmed answer; counts toward daily limits), reserved (expires by itself), released (never used).',
  args: z.object({ name: z.text({ description: 'wallet name (default: the active one)' }) }),
  options: z.object({
    limit: z
      .between(0, MOST_SHOWN)
      .default(DEFAULT_SHOWN)
      .meta({ description: `number of payments, at most ${MOST_SHOWN}`, value: 'n' }),
  }),
  examples: ['souk wallet spend', 'souk wallet spend main --limit 5 --json'],
  async run({ args, globals, options, places, system }) {
    const { name, address } = chosenWallet(places, args.name ?? globals.as)
    const now = system.now()
    const { entries, day, all, sellers } = readSpending(places, { wallet: address.toLowerCase(), now }, options.limit)
    const most = parseAmount(policyOf(places, address)?.per_day ?? '')
    const left = most === undefined ? null : formatAmount(most > day.amount ? usdc(most - day.amount) : ZERO)
    return {
      wallet: name,
      address,
      day: { ...inWords(day), left },
      all: inWords(all),
      sellers: sellers.map(({ amount, ...row }) => ({ ...row, agreed: formatAmount(amount) })),
      spends: entries.map(shown),
    }
  },
  rows: ({ spends }) => spends,
  columns,
  view({ wallet, day, all, spends }, io) {
    const left = day.left === null ? '' : `, $${day.left} left`
    io.line(`${bold(wallet)}   24 hours: $${day.agreed} authorised, $${day.settled} settled${left}`)
    io.line(`  all time: $${all.agreed} authorised in ${all.count} payments, $${all.settled} settled`)
    printRows(io, columns, spends)
  },
})

type Sum = { readonly count: number; readonly amount: bigint; readonly settled: bigint }

function inWords({ count, amount, settled }: Sum) {
  return { count, agreed: formatAmount(amount), settled: formatAmount(settled) }
}

function shown({ id, at, amount, state, method, call, payee, proof }: SpendEntry) {
  return {
    id,
    at: new Date(at).toISOString(),
    amount: formatAmount(amount),
    state,
    method,
    call,
    payee: nameOf(payee),
    instance: payee.instance,
    pay_to: payee.payTo,
    proof: proof === null ? null : (JSON.parse(proof) as Proof),
  }
}
