/** What may need a hand, the gravest first. */
export const attentionKinds = [
  'journal',
  'disk',
  'chain',
  'reversed',
  'payout',
  'dispute',
  'overdue',
  'unserved_period',
  'delivery',
  'endpoint',
  'cron',
  'engine',
  'sanctions_list',
  'platform',
  'escrow',
] as const
export type AttentionKind = (typeof attentionKinds)[number]
