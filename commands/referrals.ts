import type { WireAnswer } from '../src/api/index.ts'
import { withdrawalTargets } from '../src/api/sections/referrals.ts'
import { defineCall } from '../src/cli/command.ts'
import { pageOf, pageOptions } from '../src/cli/nouns/lists.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { bold, green } from '../src/text/text.ts'

const CODE = /^\w{1,64}$/

export const referralsCode = defineCall({
  name: 'referrals code',
  summary: 'show your referral code',
  examples: ['souk referrals code', 'souk referrals code --json'],
  asks: 'getReferralCode',
  view({ referral_code: code }, io) {
    io.line(code)
    // The code goes into a command that users paste, so check its form first.
    if (CODE.test(code)) io.note(`others register with: ${io.hint(`souk account register --referral-code ${code}`)}`)
  },
})

const columns: readonly Column<WireAnswer<'getReferralEarnings'>['history'][number]>[] = [
  { title: 'WHEN', value: ({ created_at }) => created_at },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'AS', value: ({ role }) => role },
  { title: 'REFERRED', value: ({ referred_id: id }) => id, drop: 1 },
  { title: 'SALE', value: ({ reference }) => reference.id, drop: 2 },
]

export const referralsEarnings = defineCall({
  name: 'referrals earnings',
  summary: 'list your referral earnings, sale by sale',
  options: z.object(pageOptions),
  examples: ['souk referrals earnings', 'souk referrals earnings --limit 5 --json'],
  asks: 'getReferralEarnings',
  asked: ({ options }) => ({ query: pageOf(options) }),
  rows: ({ history }) => history,
  columns,
  view({ history, total, offset, lifetime, breakdown, payable, pending, withdrawn }, io) {
    io.line(`earned $${lifetime}: by agents $${breakdown.agent}, by providers $${breakdown.provider}`)
    io.line(`payable $${payable}   pending $${pending}   withdrawn $${withdrawn}`)
    printRows(io, columns, history)
    io.note(history.length === 0 ? 'nothing yet' : `${offset + 1} to ${offset + history.length} of ${total}`)
  },
})

const listColumns: readonly Column<WireAnswer<'listReferrals'>['referrals'][number]>[] = [
  { title: 'ID', value: ({ participant_id: id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'TYPE', value: ({ type }) => type, drop: 1 },
  { title: 'EARNED', value: ({ earned }) => `$${earned}`, plain: ({ earned }) => earned, align: 'right' },
  { title: 'SINCE', value: ({ registered_at }) => registered_at, drop: 2 },
]

export const referralsList = defineCall({
  name: 'referrals list',
  summary: 'list your referrals and their earnings',
  options: z.object(pageOptions),
  examples: ['souk referrals list', 'souk referrals list --limit 5 --json'],
  asks: 'listReferrals',
  asked: ({ options }) => ({ query: pageOf(options) }),
  rows: ({ referrals }) => referrals,
  columns: listColumns,
  view({ referrals, total, offset, balance }, io) {
    printRows(io, listColumns, referrals)
    const { lifetime, payable, pending } = balance
    io.line(`earned $${lifetime}   payable $${payable}   pending $${pending}`)
    io.note(referrals.length === 0 ? 'no referrals yet' : `${offset + 1} to ${offset + referrals.length} of ${total}`)
  },
})

export const referralsProgram = defineCall({
  name: 'referrals program',
  summary: 'show the rates and rules of the referral program',
  examples: ['souk referrals program', 'souk referrals program --json'],
  asks: 'getReferralProgram',
  view({ description, rates, minimum_withdrawal: minimum, rules, participation }, io) {
    io.line(description)
    io.line(
      `agents ${bold(`${rates.agent_pct} %`)}   providers ${bold(`${rates.provider_pct} %`)}   minimum $${minimum}`,
    )
    for (const rule of rules) io.line(`  ${rule}`)
    io.line(participation.how_to_refer)
  },
})

export const referralsWithdraw = defineCall({
  name: 'referrals withdraw',
  summary: 'move referral earnings to your balance or wallet',
  description: 'Moves all payable earnings, $1 at least. See the amount with `souk referrals list`.',
  options: z.object({
    to: z.enum(withdrawalTargets).default('balance').meta({ description: 'destination', value: 'target' }),
  }),
  examples: ['souk referrals withdraw --dry-run', 'souk referrals withdraw --to wallet --dry-run --json'],
  asks: 'withdrawReferrals',
  asked: async (context) => ({
    body: { to: context.options.to },
    headers: {
      ...(await (await context.session()).ownHeaders()),
      'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID(),
    },
  }),
  view({ withdrawn, balance, payout_id: payout }, io) {
    const where = payout === null ? `moved; the balance is $${balance}` : `is on its way to your wallet as ${payout}`
    io.line(`${green('✓')} $${withdrawn} ${where}`)
  },
})
