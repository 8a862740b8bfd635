import { X509Certificate } from 'node:crypto'
import { formatAmount } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { hotBalance } from '../../ports/chain/chain.ts'
import { lastBackup } from '../backup/archive.ts'
import { staysHot } from '../payouts/cold-sweep.ts'
import { alarms, allRows, FAILURES_TOLD } from './alarms.ts'
import { type FoundItems, foundItems, type ItemWords } from './find.ts'

/** A start renews a certificate for 30 days before its end, so a restart is the remedy in this time. */
const CERTIFICATE_MS = 14 * DAY_MS
/** Age of the last backup that is reported: with real money, and else. */
const [REAL_BACKUP_MS, TEST_BACKUP_MS] = [2 * DAY_MS, 30 * DAY_MS]

/** What the operator has to keep up: alarms, certificate, backup, and little money on hand. */
export async function upkeepOf(ctx: Context, now: number): Promise<readonly FoundItems[]> {
  const [hot, certificate, backup] = [await hotBalanceOf(ctx), certificateOf(ctx), await backupOf(ctx, now)]
  const only = (words: ItemWords | undefined) => ({ rows: words ? [words] : [] })
  return Promise.all([
    foundItems('hot_balance', only(hot), (words) => words),
    foundItems('alarm', { rows: await failingTargets(ctx) }, (words) => words),
    foundItems('certificate', only(certificate), (words) => words),
    foundItems('backup', only(backup), (words) => words),
  ])
}

async function hotBalanceOf(ctx: Context): Promise<ItemWords | undefined> {
  const { hotCeiling, coldAddress } = ctx.config
  // A chain that does not answer is an item of its own.
  const balance = hotCeiling && (await hotBalance(ctx.chain).catch(() => undefined))
  if (!hotCeiling || !balance || balance <= hotCeiling || !(await staysHot(ctx, balance))) return undefined
  const why =
    coldAddress === undefined
      ? 'and there is no --cold-address'
      : 'and what is above it does not go to the cold address'
  const sentence = `The pay-to wallet holds $${formatAmount(balance)}, more than --hot-ceiling ${formatAmount(hotCeiling)}, ${why}.`
  const subject = { kind: 'chain', id: 'hot_balance' }
  return { id: 'hot_balance', subject, amount: balance, sentence, fix: 'souk admin payouts' }
}

async function failingTargets(ctx: Context): Promise<ItemWords[]> {
  const rows = new Map((await allRows(ctx)).map((row) => [row.id, row]))
  return alarms.of(ctx).targets.flatMap(({ id, shown }) => {
    const row = rows.get(id)
    if (row === undefined || row.failures < FAILURES_TOLD) return []
    const sentence = `Alarms do not arrive at ${shown}: ${row.error ?? 'unknown error'}.`
    const subject = { kind: 'alarm', id }
    return [{ id: `alarm ${id}`, subject, since: row.failing_since, sentence, fix: 'souk admin alarms test' }]
  })
}

function certificateOf({ config: { tls }, clock }: Context): ItemWords | undefined {
  if (tls === undefined) return undefined
  const end = Date.parse(new X509Certificate(tls.cert).validTo)
  const left = end - clock.wall()
  if (left > CERTIFICATE_MS) return undefined
  const sentence = `The certificate ${left > 0 ? 'ends' : 'ended'} on ${new Date(end).toISOString()}: a restart renews it.`
  const subject = { kind: 'certificate', id: tls.name }
  return { id: 'certificate', grave: left <= 0, subject, sentence, fix: 'souk restart' }
}

async function backupOf(ctx: Context, now: number): Promise<ItemWords | undefined> {
  const isReal = ctx.chain.mode === 'base'
  const last = await lastBackup(ctx)
  // A trial that was never backed up needs no backup.
  if (last === undefined ? !isReal : now - last < (isReal ? REAL_BACKUP_MS : TEST_BACKUP_MS)) return undefined
  const days = last === undefined ? 0 : Math.floor((now - last) / DAY_MS)
  const sentence = last === undefined ? 'There is no backup yet.' : `The last backup is ${days} days old.`
  const subject = { kind: 'backup', id: 'last' }
  return { id: 'backup', grave: isReal, since: last ?? null, subject, sentence, fix: 'souk admin backup market.tar' }
}
