import { defineCall } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { listCommand, showNoun } from '../src/cli/nouns/lists.ts'
import * as z from '../src/cli/params.ts'
import { subscriptionStatuses } from '../src/model/words.ts'
import { subscription } from '../src/nouns/subscriptions.ts'

export const subsCancel = defineCall({
  name: 'subs cancel',
  summary: 'cancel a subscription at the end of its paid period',
  description:
    '`souk subs resume --keep` undoes the cancellation until that period ends. --now ends the subscription immediately, without a refund.',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({
    atPeriodEnd: z.flag({ description: 'cancel at the end of the paid period (default)' }),
    now: z.flag({ description: 'cancel immediately, without a refund' }),
  }),
  examples: [
    'souk subs cancel sub_0123456789abcdef --at-period-end',
    'souk subs cancel sub_0123456789abcdef --now --yes --json',
  ],
  asks: 'cancelSubscription',
  asked({ args, options: { now, atPeriodEnd } }) {
    if (now && atPeriodEnd) throw usage('--now and --at-period-end cannot be combined.')
    return { params: { id: args.subscription }, body: { at_period_end: !now } }
  },
  confirms: ({ args, options }) => (options.now ? `End ${args.subscription} now? There is no refund.` : undefined),
  view: (row, io) => showNoun(subscription, row, io),
})

export const subsList = listCommand(subscription, {
  name: 'subs list',
  summary: 'list subscriptions, yours and those to your plans, newest first',
  list: 'listSubscriptions',
  options: {
    status: z.choice(subscriptionStatuses, { description: 'only in this state' }),
    role: z.choice(['buyer', 'provider'], { description: 'only as buyer or as provider' }),
  },
  examples: ['souk subs list', 'souk subs list --role buyer --status active --json'],
})

export const subsPause = defineCall({
  name: 'subs pause',
  summary: 'pause a subscription: no further charges; the paid period continues',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  examples: ['souk subs pause sub_0123456789abcdef', 'souk subs pause sub_0123456789abcdef --json'],
  asks: 'pauseSubscription',
  view: (row, io) => showNoun(subscription, row, io),
})

export const subsResume = defineCall({
  name: 'subs resume',
  summary: 'resume a paused subscription, or undo a cancellation',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({ keep: z.flag({ description: 'undo a scheduled cancellation' }) }),
  examples: ['souk subs resume sub_0123456789abcdef', 'souk subs resume sub_0123456789abcdef --keep --json'],
  asks: 'resumeSubscription',
  asked: ({ args, options: { keep } }) => ({ params: { id: args.subscription }, ...(keep ? { body: { keep } } : {}) }),
  view: (row, io) => showNoun(subscription, row, io),
})

export const subsView = defineCall({
  name: 'subs view',
  summary: 'show a subscription: period, access, next charge',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  examples: ['souk subs view sub_0123456789abcdef', 'souk subs view sub_0123456789abcdef --json'],
  asks: 'getSubscription',
  view: (row, io) => showNoun(subscription, row, io),
})
