import type { z } from 'zod'
import type { auditApi } from '../../../src/api/sections/money.ts'
import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { accountKind, accountOwner, type EntryKind, isHeld } from '../../../src/model/ledger.ts'
import type { Context } from '../../kernel/context.ts'
import { hotBalance } from '../../ports/chain/chain.ts'
import { eachPage, everyRow } from '../../store/each-page.ts'
import type { ReadTx } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { earnedAs } from '../ledger/earnings.ts'
import { forgottenCount, whileKept } from '../ledger/forget.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf, lastSeq } from '../ledger/post.ts'
import { type AccountRow, accounts, history, type LedgerRow } from '../ledger/rows.ts'
import { uncoveredLosses } from '../payments/reversed.ts'
import { type PaymentRow, payments } from '../payments/rows.ts'
import { advancedSum } from '../payouts/advances.ts'
import { type PayoutRow, payouts } from '../payouts/rows.ts'
import { type PurchaseRow, purchases } from '../products/rows.ts'
import { type SubscriptionRow, subscriptions } from '../subscriptions/rows.ts'
import {
  booksChecks,
  type Check,
  chainCheck,
  checkOf,
  type Numbering,
  newRecount,
  recount,
  saleFault,
} from './checks.ts'
import { awaitedOf, escrowCheck, openDealsOf } from './escrow-check.ts'
import { type HeldFunds, heldFundsOf } from './held-funds.ts'
import { type AuditSlice, accountSlice, ledgerSlice, ledgerToEnd, SLICE_ROWS } from './slices.ts'

/** The amount that an account must hold, as stated by the record named in `by`. */
type Claim = { readonly account: string; readonly amount: Usdc; readonly by: string }

/** All claims on held money; call it within one read transaction. Of the rows, only the claims stay in memory. */
export async function claimsOf(t: ReadTx): Promise<Claim[]> {
  const claims: Claim[] = []
  for await (const rows of eachPage(t.table(payments), { index: 'open', prefix: [], limit: SLICE_ROWS }))
    for (const { id, method, price, receipt_id } of rows)
      if (method === 'balance') claims.push({ account: account.hold(id), amount: price, by: receipt_id })
  for await (const rows of eachPage(t.table(payouts), { index: 'due', prefix: [], limit: SLICE_ROWS }))
    for (const { id, amount } of rows) claims.push({ account: account.payout(id), amount, by: id })
  claims.push(...keptClaims(await everyRow(t.table(payouts), { index: 'blocked', prefix: [], limit: SLICE_ROWS })))
  for await (const rows of eachPage(t.table(jobs), { index: 'held', prefix: [], limit: SLICE_ROWS }))
    for (const { id, amount } of rows) claims.push({ account: account.escrow(id), amount, by: id })
  return claims
}

/** One claim per wallet, because one account has all blocked money of a wallet. */
function keptClaims(rows: readonly PayoutRow[]): Claim[] {
  const byWallet = new Map<PayoutRow['wallet'], PayoutRow[]>()
  for (const row of rows) byWallet.set(row.wallet, [...(byWallet.get(row.wallet) ?? []), row])
  return [...byWallet].map(([wallet, kept]) => ({
    account: account.blocked(wallet),
    amount: usdc(kept.reduce((sum, { amount }) => sum + amount, 0n)),
    by: kept.map(({ id }) => id).join(', '),
  }))
}

export type AuditReport = z.output<typeof auditApi.getAudit.reply.schema>

/** Maximum attempts to compare the books with the chain without a write in between. */
const QUIET_ATTEMPTS = 50

/** The parts of the context that the audit reads. The audit writes nothing. Without a chain, the books are compared alone. */
type Books = Pick<Context, 'clock'> & {
  readonly store: Pick<Context['store'], 'read' | 'stats'>
  readonly chain?: Context['chain']
}

type Audit = {
  readonly ctx: Books
  readonly books: ReturnType<typeof newRecount>
  /** Names of the accounts compared so far. */
  readonly seen: Set<string>
  readonly faults: Record<'accounts' | 'history' | 'jobs' | 'charges' | 'owners' | 'claims' | 'earnings', string[]>
  /** Number of charged periods of each subscription, from the books. */
  readonly charges: Map<string, number>
  cursor?: string | undefined
  numbering: Numbering
}

/**
 * Recomputes and compares the books (decisions §5, `souk money audit`). It reads slices while other operations write.
 * Each slice of accounts is compared within one read, so the report is exact. `as_of` is the last transaction counted.
 * @throws AppError `unavailable` if the books or the chain changed during every attempt to compare them.
 */
export async function auditBooks(ctx: Books): Promise<AuditReport> {
  const audit: Audit = {
    ctx,
    books: newRecount(),
    seen: new Set(),
    faults: { accounts: [], history: [], jobs: [], charges: [], owners: [], claims: [], earnings: [] },
    charges: new Map(),
    numbering: { last: 0, forgotten: 0 },
  }
  await whileKept(ctx.store, () => compareBooks(audit))
  const onChain = ctx.chain === undefined ? [] : await compareChain({ ...ctx, chain: ctx.chain })
  const checks = [...booksChecks(audit.books, audit.numbering), ...accountChecks(audit), ...onChain]
  return {
    ok: checks.every((check) => check.ok),
    as_of: { seq: audit.books.seq, at: ctx.clock.now() },
    transactions: audit.books.transactions,
    accounts: audit.seen.size,
    checks,
  }
}

async function compareBooks(audit: Audit): Promise<void> {
  await countBooks(audit)
  await compareAccounts(audit)
  await compareClaims(audit)
  await compareEarnings(audit)
  const read = await audit.ctx.store.read(async (t) => ({
    fresh: await withSold(t, await ledgerToEnd(t, audit.cursor)),
    numbering: { last: await lastSeq(t), forgotten: await forgottenCount(t) },
  }))
  count(audit, read.fresh)
  audit.numbering = read.numbering
}

type Sold = Pick<JobRow | PurchaseRow | SubscriptionRow, 'id' | 'amount' | 'provider_amount' | 'fee'>
type Counted = AuditSlice<LedgerRow> & { readonly sold: readonly Sold[] }

async function countBooks(audit: Audit): Promise<void> {
  for (let more = true; more; ) {
    const slice = await audit.ctx.store.read(async (t) => withSold(t, await ledgerSlice(t, audit.cursor)))
    count(audit, slice)
    more = slice.more
  }
}

async function withSold(t: ReadTx, slice: AuditSlice<LedgerRow>): Promise<Counted> {
  const idsOf = (kind: string) => [
    ...new Set(slice.rows.filter((row) => row.ref_kind === kind && isSale(row)).map((row) => row.ref_id)),
  ]
  const sold = [
    await t.table(jobs).getMany(idsOf('job')),
    await t.table(purchases).getMany(idsOf('purchase')),
    await t.table(subscriptions).getMany(idsOf('subscription')),
  ]
  return { ...slice, sold: sold.flat() }
}

const sales: Readonly<Record<string, readonly EntryKind[]>> = {
  job: ['instant_sale', 'escrow_release', 'dispute_split'],
  purchase: ['product_sale'],
  subscription: ['subscription', 'renewal'],
}

function isSale(row: LedgerRow): boolean {
  return sales[row.ref_kind]?.includes(row.kind) === true
}

function isCharge(row: LedgerRow): boolean {
  return row.ref_kind === 'subscription' && isSale(row)
}

/** Adds the rows of one read to the totals. Called after the read, because the read's function may run twice. */
function count(audit: Audit, { rows, sold, cursor }: Counted): void {
  const byId = new Map(sold.map((record) => [record.id, record]))
  for (const row of rows) {
    recount(audit.books, row)
    if (isCharge(row)) audit.charges.set(row.ref_id, (audit.charges.get(row.ref_id) ?? 0) + 1)
    const fault = isSale(row) ? saleFault(row, byId.get(row.ref_id)) : undefined
    if (fault) audit.faults.jobs.push(fault)
  }
  audit.cursor = cursor
}

type Compared = Awaited<ReturnType<typeof factsOf>>

async function compareAccounts(audit: Audit): Promise<void> {
  const { store, clock } = audit.ctx
  let cursor: string | undefined
  for (let more = true; more; ) {
    const read = await store.read(async (t) => {
      const fresh = await withSold(t, await ledgerToEnd(t, audit.cursor))
      const slice = await accountSlice(t, cursor)
      return { fresh, slice, compared: await Promise.all(slice.rows.map((row) => factsOf(t, row, clock.now()))) }
    })
    count(audit, read.fresh)
    for (const compared of read.compared) compare(audit, compared)
    cursor = read.slice.cursor
    more = read.slice.more
  }
}

async function factsOf(t: ReadTx, row: AccountRow, now: number) {
  const { kind } = row
  const hold = isHeld(kind) ? await heldFundsOf(t, { ...row, kind }, now) : undefined
  if (kind !== 'bal') return { row, hold, lastBalance: undefined }
  const { rows } = await t.table(history).page('participant', [accountOwner(row.id)], { limit: 1 })
  return { row, hold, lastBalance: rows[0]?.balance_after ?? 0n }
}

function compare({ books, faults, seen }: Audit, { row, hold, lastBalance }: Compared): void {
  seen.add(row.id)
  const sum = books.sums.get(row.id) ?? 0n
  if (sum !== row.balance)
    faults.accounts.push(`${row.id}: balance ${formatAmount(row.balance)}, sum of its lines ${formatAmount(sum)}`)
  if (lastBalance !== undefined && lastBalance !== row.balance) {
    faults.history.push(
      `the history of ${row.id} ends at ${formatAmount(lastBalance)}, not ${formatAmount(row.balance)}`,
    )
  }
  const fault = hold && ownerFault(hold)
  if (fault) faults.owners.push(fault)
}

function ownerFault({
  account: name,
  owner,
  amount,
  expected,
  next_event,
  next_event_at,
}: HeldFunds): string | undefined {
  if (!owner) return `${name} holds ${formatAmount(amount)} without an owner`
  if (next_event === null || next_event_at === null) return `${name} has no next event`
  if (expected === null || expected === amount) return undefined
  return `${name} holds ${formatAmount(amount)}, ${owner.kind} ${owner.id} says ${formatAmount(expected)}`
}

/** Checks accounts that no slice has read, claims against ledger sums, and subscription charges against periods. */
async function compareClaims(audit: Audit): Promise<void> {
  const { books, faults, seen, ctx } = audit
  const read = await ctx.store.read(async (t) => {
    const fresh = await withSold(t, await ledgerToEnd(t, audit.cursor))
    const missed = [...books.sums.keys(), ...fresh.rows.flatMap((row) => row.lines.map((line) => line.account))]
    const rows = await t.table(accounts).getMany([...new Set(missed)].filter((name) => !seen.has(name)))
    const ids = fresh.rows.filter(isCharge).map((row) => row.ref_id)
    const charged = await t.table(subscriptions).getMany([...new Set([...audit.charges.keys(), ...ids])])
    return { fresh, rows, claims: await claimsOf(t), charged }
  })
  count(audit, read.fresh)
  const missed = new Map(read.rows.map((row) => [row.id, row.balance]))
  for (const [name, sum] of books.sums) {
    if (!seen.has(name) && missed.get(name) !== sum) faults.accounts.push(`${name} has ledger lines but no account`)
  }
  for (const claim of read.claims) claimed(audit, claim)
  for (const { id, charges } of read.charged) {
    const found = audit.charges.get(id) ?? 0
    if (found !== charges) faults.charges.push(`${id}: ${found} charges for ${charges} periods`)
  }
}

function claimed({ books, faults }: Audit, { account: name, amount, by }: Claim): void {
  const sum = books.sums.get(name) ?? 0n
  if (sum !== amount)
    faults.claims.push(`${by} claims ${formatAmount(amount)} in ${name}, which holds ${formatAmount(sum)}`)
}

/** Number of accounts whose earnings totals are read in one transaction. */
const EARNED_SLICE = 200

/** Compares reported earnings with the amounts that sales posted to the accounts. */
async function compareEarnings(audit: Audit): Promise<void> {
  const names = [...audit.books.earned.keys()]
  for (let at = 0; at < names.length; at += EARNED_SLICE) {
    const slice = names.slice(at, at + EARNED_SLICE)
    const read = await audit.ctx.store.read(async (t) => ({
      fresh: await withSold(t, await ledgerToEnd(t, audit.cursor)),
      totals: await Promise.all(slice.map((name) => earnedInto(t, name))),
    }))
    count(audit, read.fresh)
    slice.forEach((name, n) => {
      const [sum, told] = [audit.books.earned.get(name) ?? 0n, read.totals[n] ?? 0n]
      if (sum !== told)
        audit.faults.earnings.push(`${name} gained ${formatAmount(sum)}, its earnings record ${formatAmount(told)}`)
    })
  }
}

async function earnedInto(t: ReadTx, name: string): Promise<bigint> {
  const owner = accountOwner(name)
  if (accountKind(name) === 'prov') return earnedAs(t, owner, 'sale')
  return (await earnedAs(t, owner, 'agent')) + (await earnedAs(t, owner, 'provider'))
}

function accountChecks({ faults, seen, charges }: Audit): Check[] {
  return [
    checkOf('accounts', `${seen.size} account balances equal the sums of their ledger lines`, faults.accounts),
    checkOf('history', 'every balance equals the end of its history', faults.history),
    checkOf('jobs', 'every sale is split as its record says', faults.jobs),
    checkOf('charges', `${charges.size} subscriptions were charged once per period`, faults.charges),
    checkOf('owners', 'all held money has an owner and a next event', faults.owners),
    checkOf('earnings', 'recorded earnings equal the proceeds of sales', faults.earnings),
    checkOf('claims', 'the ledger holds the funds of all open payments, jobs and payouts', faults.claims),
  ]
}

/** Compares books and chain. Repeats if either changed meanwhile. @throws AppError `unavailable`. */
export async function compareChain(ctx: Required<Books>): Promise<Check[]> {
  const { escrow } = ctx.chain
  for (let attempt = 0; attempt < QUIET_ATTEMPTS; attempt += 1) {
    const before = ctx.store.stats().seq
    const { ext, cold, open, lost, sent, dealt, advanced } = await ctx.store.read(async (t) => ({
      ext: await balanceOf(t, account.ext),
      cold: -(await balanceOf(t, account.cold)),
      lost: await uncoveredLosses(t),
      advanced: await advancedSum(t),
      open: await everyRow(t.table(payments), { index: 'open', prefix: [], limit: SLICE_ROWS }),
      sent: (await everyRow(t.table(payouts), { index: 'due', prefix: [], limit: SLICE_ROWS })).filter(
        (row) => row.status === 'sent',
      ),
      dealt: await openDealsOf(t),
    }))
    const unposted = await settledUnposted(ctx, open)
    const held = (await escrow?.status())?.held ?? usdc(0n)
    const onChain = held + (await hotBalance(ctx.chain))
    const inContract = escrow ? [await escrowCheck(escrow, held, dealt)] : []
    // Checked last. If money left the contract during the comparison, the comparison starts again.
    const isQuiet = escrow === undefined || (await escrow.status()).held === held
    if (!isQuiet || ctx.store.stats().seq !== before) continue
    const uncovered = lost.reduce((sum, row) => sum + (row.uncovered ?? 0n), 0n)
    const leaving = sent.reduce((sum, row) => sum + row.amount, 0n)
    const moving = { unposted, uncovered, advanced, sent: leaving, cold, awaited: awaitedOf(dealt) }
    const whole = chainCheck({ ext, onChain, ...moving })
    return [whole, ...inContract]
  }
  throw new AppError('unavailable', 'The ledger is too busy to compare it with the chain.', { retryAfter: 5 })
}

async function settledUnposted(ctx: Required<Books>, open: readonly PaymentRow[]): Promise<bigint> {
  let sum = 0n
  for (const { authorization, payer, price, state } of open) {
    if (!authorization || state === 'reserved') continue
    if ((await ctx.chain.authorizationState(payer, authorization.nonce)).used) sum += price
  }
  return sum
}
