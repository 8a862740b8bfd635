import type { WireAnswer } from '../src/api/index.ts'
import { andJson, defineCall, defineCommand } from '../src/cli/command.ts'
import { pageOf, pageOptions } from '../src/cli/nouns/lists.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { bold, cyan, green, red, yellow } from '../src/text/text.ts'

type Transaction = WireAnswer<'getChain'>['transactions'][number]

const columns: readonly Column<Transaction>[] = [
  { title: 'NONCE', value: ({ nonce }) => String(nonce), align: 'right' },
  {
    title: 'STATE',
    value: ({ state, ok }) => (ok === false ? `${state}, reverted` : state),
    plain: ({ state }) => state,
  },
  {
    title: 'WHAT',
    value: ({ call, transfers: many }) => call ?? `${many} transfer${many === 1 ? '' : 's'}`,
    flexible: true,
  },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'SENT', value: ({ sent_at: at }) => at, drop: 2 },
  { title: 'BLOCK', value: ({ block }) => String(block ?? ''), align: 'right', drop: 1 },
  { title: 'HASH', value: ({ mined, hashes }) => mined ?? hashes.at(-1) ?? '', drop: 3 },
]

export const chainQueue = defineCommand({
  name: 'chain queue',
  summary: 'list transactions that are not final, oldest first',
  description:
    'States: signed (sent, not in a block yet), included and confirmed (in a block that can still be reverted), superseded (another transaction used the nonce). Needs the admin key of the instance.',
  options: z.object({ all: z.flag({ description: 'include final transactions, newest first' }), ...pageOptions }),
  examples: ['souk chain queue', 'souk chain queue --all --limit 5 --json'],
  async run(context) {
    const { all, limit, page } = context.options
    const query = { state: all ? 'all' : 'open', ...pageOf({ limit, page }) } as const
    const { transactions, total, offset, queue, health } = await (await context.session()).call('getChain', { query })
    return { transactions, total, limit, offset, queue, health }
  },
  rows: ({ transactions }) => transactions,
  columns,
  view({ transactions, total, offset, queue }, io) {
    printRows(io, columns, transactions)
    const place = transactions.length === 0 ? 'none' : `${offset + 1} to ${offset + transactions.length} of ${total}`
    io.note(queue.waiting === 0 ? place : `${place}; ${queue.waiting} orders wait for a transaction`)
  },
})

const signs = { ok: green('✓'), degraded: yellow('!'), down: red('✗') } as const

const WEI_IN_MICROETHER = 1_000_000_000_000n
const MICROETHER = 1_000_000

/** Rounded down to six decimals for display; the JSON has the exact wei. */
const etherOf = (wei: string) => Number(BigInt(wei) / WEI_IN_MICROETHER) / MICROETHER

export const chainStatus = defineCommand({
  name: 'chain status',
  summary: 'show chain status: head, nodes, gas key, pending transactions',
  description:
    'While the chain is down, the instance asks nobody for signed payments. Transactions signed before continue when the chain is back. In the sandbox, the chain is a ledger inside the store. Needs the admin key of the instance.',
  isDefault: true,
  options: z.object({
    exitStatus: z.flag({ description: 'exit with code 11 if the chain fails or differs from the ledger' }),
  }),
  examples: ['souk chain', 'souk chain status --json', 'souk chain status --exit-status'],
  async run(context) {
    const page = await (await context.session()).call('getChain', { query: { limit: '1' } })
    const { transactions: _, limit: __, offset: ___, total: open, ...facts } = page
    if (context.options.exitStatus && (facts.health !== 'ok' || facts.books?.ok === false)) context.exit('check_failed')
    return { ...facts, open }
  },
  view({ mode, network, caip2, health, head, nodes, gas_key: gas, queue, books, faults, ...rest }, io) {
    const age = head === null ? 'no block seen yet' : `block ${head.block}, ${head.age_seconds} s old`
    io.line(`${signs[health]} ${bold(mode)}   ${network} (${caip2})   ${age}`)
    for (const { sentence } of faults) io.line(`  ${yellow('!')} ${sentence}`)
    for (const { node, head: seen, error } of nodes) {
      io.line(`  node      ${node}   ${error === null ? `${green('✓')} at ${seen ?? '—'}` : `${red('✗')} ${error}`}`)
    }
    if (gas !== null) io.line(`  gas key   ${gas.address}   ${etherOf(gas.wei)} ETH, about ${gas.payments} payments`)
    const { waiting, in_flight: flying, oldest_seconds: oldest } = queue
    const since = oldest === null ? '' : `, the oldest for ${oldest} s`
    io.line(`  queue     ${waiting} wait, ${flying} in no block${since}   ${cyan(io.hint('souk chain queue'))}`)
    io.line(`  reverted  ${queue.reorged} sent again after a reorganisation, ${queue.reversed} lost permanently`)
    if (books !== null) io.line(`  books     ${books.ok ? green('✓') : red('✗')} ${books.detail}`)
    io.line(`  pays to   ${rest.pay_to}   asset ${rest.asset}`)
  },
})

const ACT_COLUMNS = 10
const MAX_ID_CHARS = 80

const txColumns: readonly Column<{ from: string; to: string; amount: string; nonce: string; state: string }>[] = [
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'FROM', value: ({ from }) => from },
  { title: 'TO', value: ({ to }) => to, drop: 1 },
  { title: 'AUTHORIZATION', value: ({ nonce }) => nonce, drop: 2 },
]

export const chainTx = defineCommand({
  name: 'chain tx',
  summary: 'show one transaction of the gas key: contents and outcome',
  description: 'ID is the transaction id, its nonce, or any of its hashes. Needs the admin key of the instance.',
  args: z.object({
    id: z.string().min(1).max(MAX_ID_CHARS).meta({ description: 'id, nonce or hash of the transaction' }),
  }),
  examples: andJson('souk chain tx 0xfedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210'),
  async run(context) {
    const { transactions } = await (await context.session()).call('getChain', { query: { tx: context.args.id } })
    const [found] = transactions
    if (!found) throw new Error('the instance returned no such transaction')
    return found
  },
  view({ id, state, ok, hashes, mined, block, max_fee, sent_at, included_at, call, to, items = [] }, io) {
    const ended = ok === false ? red('✗') : green('✓')
    io.line(`${ok === null ? yellow('●') : ended} ${bold(id)}   ${state}${ok === false ? ', reverted' : ''}`)
    io.line(`  sent      ${sent_at}   max gas price ${max_fee} gwei`)
    if (block !== null) io.line(`  in block  ${block}   ${included_at ?? ''}`)
    for (const hash of hashes) io.line(`  hash      ${hash === mined ? cyan(hash) : hash}`)
    io.line(`  calls     ${to}${call === null ? '' : `   ${call}`}`)
    if (items.length > 0) printRows(io, txColumns, items)
  },
})

const costColumns: readonly Column<WireAnswer<'getChainCosts'>['sales'][number]>[] = [
  { title: 'SALE', value: ({ kind }) => kind },
  { title: 'ACTS', value: ({ acts }) => acts.join(', '), flexible: true },
  { title: 'GAS', value: ({ cost }) => cost && `$${cost}`, plain: ({ cost }) => cost, align: 'right' },
  {
    title: 'BREAK EVEN',
    value: (one) => one.break_even && `$${one.break_even}`,
    plain: (one) => one.break_even,
    align: 'right',
  },
]

export const chainCosts = defineCall({
  name: 'chain costs',
  summary: 'show gas per act and the price at which a sale pays for it',
  description:
    'Measured from own transactions of the last 30 days; what was not measured follows from the gas price of the node. Values in USDC need `souk up --eth-price`. Payouts of several sales share one, so a sale costs at most what is shown. Needs the admin key of the instance.',
  asks: 'getChainCosts',
  examples: andJson('souk chain costs'),
  rows: ({ sales }) => sales,
  columns: costColumns,
  view({ acts, sales, below, gas, fees, gas_wei: wei, eth_price: price, from }, io) {
    printRows(io, costColumns, sales)
    for (const { act, count, wei: average } of acts)
      io.line(`  ${act.padEnd(ACT_COLUMNS)}${average === null ? 'unknown' : `${average} wei`}   ${count} measured`)
    io.line(`  since     ${from}: gas ${gas === null ? `${wei} wei` : `$${gas}`}, fees $${fees}`)
    for (const one of below)
      io.line(`  ${yellow('!')} ${one.name} at $${one.price} is below $${one.break_even}   ${one.service_id}`)
    if (price === null) io.note(`  next      ${cyan(io.hint('souk up --eth-price 3000.00'))} to value gas`)
  },
})
