import { defineCommand, watchOptions } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { listCommand } from '../src/cli/nouns/lists.ts'
import { holdingText, withHoldings } from '../src/cli/nouns/wallets.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import { formatAmount, parseAmount, ZERO } from '../src/core/money.ts'
import * as column from '../src/nouns/columns.ts'
import { listing } from '../src/nouns/noun.ts'
import { bold, cyan, green } from '../src/text/text.ts'

export const balanceDeposit = defineCommand({
  name: 'balance deposit',
  summary: 'add money from the wallet to the balance',
  args: z.object({ amount: z.string().meta({ description: 'amount in USDC, from 0.01 to 10000' }) }),
  examples: ['souk balance deposit 0.50', 'souk balance deposit 0.25 --json'],
  prints: 'deposit',
  async run(context) {
    const amount = parseAmount(context.args.amount)
    if (amount === undefined || amount === ZERO)
      throw usage(`The amount must be like 5.00; you gave "${context.args.amount}".`)
    const session = await context.session()
    const signing = { ...context, globals: { ...context.globals, pay: 'x402' as const } }
    const { answer } = await pay(signing, session, {
      endpoint: 'deposit',
      asked: { body: { amount: formatAmount(amount) } },
      shown: amount,
      stated: ({ credited }) => credited,
    })
    return answer
  },
  view({ credited, balance }, io) {
    io.line(`${green('✓')} $${credited} credited; the balance is $${balance}`)
    io.note(
      `  next: ${cyan(io.hint('souk services list'))}    withdraw it: ${cyan(io.hint('souk balance withdraw all'))}`,
    )
  },
})

const history = listing({
  list: 'getBalanceHistory',
  rows: 'entries',
  none: 'no transactions yet',
  columns: [
    column.time('WHEN', ({ created_at }) => created_at),
    column.word('TYPE', ({ type }) => type),
    column.money('AMOUNT', ({ amount }) => amount),
    column.money('AFTER', ({ balance_after }) => balance_after),
    column.word('FOR', ({ reference }) => reference.id, { drop: 1 }),
    column.word('ID', ({ id }) => id, { drop: 2 }),
  ],
})

export const balanceHistory = listCommand(history, {
  name: 'balance history',
  summary: 'list balance transactions, newest first',
  examples: ['souk balance history', 'souk balance history --limit 5 --json'],
})

export const balanceShow = defineCommand({
  name: 'balance show',
  summary: 'show your prepaid balance and the USDC in your wallet',
  isDefault: true,
  options: z.object(watchOptions),
  examples: ['souk balance', 'souk balance show --json'],
  async run(context) {
    const session = await context.session()
    const balance = await session.call('getBalance', {})
    const { type } = await session.call('getParticipant', { params: { id: balance.participant_id } })
    const wallet = await session.wallet()
    if (wallet === undefined) return { ...balance, type, wallet: null }
    const [held] = await withHoldings(context, [wallet])
    return { ...balance, type, wallet: { name: wallet.name, address: wallet.address, holds: held?.holds ?? null } }
  },
  view({ available, held, participant_id: id, type, wallet }, io) {
    io.line(`${id}   available ${bold(`$${available}`)}   on hold $${held}`)
    if (wallet !== null) io.line(`wallet ${wallet.name}   holds ${bold(holdingText(wallet))}   ${wallet.address}`)
    const sales = type === 'agent' ? [] : ['souk earnings']
    const next = [...sales, 'souk balance history', 'souk balance deposit 1.00', 'souk balance withdraw all']
    io.note(`  next: ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})

const ALL = 'all'

export const balanceWithdraw = defineCommand({
  name: 'balance withdraw',
  summary: 'withdraw your balance to your wallet',
  description: 'Sends a payout within a minute. The amount is locked until then. A wallet can have one pending payout.',
  args: z.object({ amount: z.string().meta({ description: `amount in USDC, such as 1.50, or "${ALL}"` }) }),
  examples: ['souk balance withdraw 0.50 --dry-run', 'souk balance withdraw 0.50 --dry-run --json'],
  prints: 'withdrawBalance',
  async run(context) {
    const { amount: text } = context.args
    const given = parseAmount(text)
    if (text !== ALL && (given === undefined || given === ZERO)) {
      throw usage(`The amount must be like 1.50, or "${ALL}"; you gave "${text}".`)
    }
    const session = await context.session()
    const headers = await session.ownHeaders()
    const amount = given === undefined ? await all(session, headers) : formatAmount(given)
    return session.call('withdrawBalance', {
      body: { amount },
      headers: { ...headers, 'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID() },
    })
  },
  view({ withdrawn, wallet, payout_id: id, available: rest }, io) {
    io.line(`${green('✓')} $${withdrawn} is on its way to ${wallet} as ${id}; $${rest} stays available`)
    io.note(`  next: ${cyan(io.hint('souk balance history'))}`)
  },
})

async function all(session: Session, headers: Readonly<Record<string, string>>): Promise<string> {
  const { available, held } = await session.call('getBalance', { headers })
  if (parseAmount(available) !== ZERO) return available
  throw new CliError('conflict', `There is nothing to withdraw: $${available} is available, $${held} is on hold.`, {
    next: ['souk balance deposit 1.00', 'souk balance history'],
  })
}
