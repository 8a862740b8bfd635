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
/** What may wait for a participant, the most urgent first. */
export const ownAttentionKinds = ['dispute', 'work', 'verify', 'proposal', 'past_due', 'delivery', 'endpoint'] as const
export type OwnAttentionKind = (typeof ownAttentionKinds)[number]

export type AttentionKind = (typeof attentionKinds)[number]
