// This file is separate from the id schemas, so that short commands load no schema library.

/** Id prefixes (decisions §1): prefix + 16 lower-case hex digits. */
export const idPrefixes = {
  service: 'svc_',
  participant: 'p_',
  job: 'job_',
  thread: 'thr_',
  message: 'msg_',
  file: 'file_',
  plan: 'plan_',
  subscription: 'sub_',
  product: 'prod_',
  purchase: 'pur_',
  posting: 'post_',
  bid: 'bid_',
  transaction: 'txn_',
  event: 'evt_',
  delivery: 'whd_',
  trace: 'trc_',
  verification: 'vat_',
  receipt: 'rcp_',
  payout: 'out_',
  request: 'req_',
} as const

export type IdNoun = keyof typeof idPrefixes
