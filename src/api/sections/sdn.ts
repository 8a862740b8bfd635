import { z } from 'zod'
import { Address, namedObject, Time } from '../../core/codecs.ts'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, json, jsonBody, namedJson } from '../endpoint/define.ts'

/** `/health.compliance.sdn`; business time. */
export const Sdn = namedObject('Sdn', {
  last_updated: Time.nullable().meta({ description: 'time of the last change' }),
  last_checked: Time.nullable().meta({ description: 'time of the last refresh' }),
  source: z.string(),
  ofac_publish_date: z.string().nullable(),
  ofac_evm_count: z.int().meta({ description: 'number of EVM addresses on the list' }),
  total: z.int().meta({ description: 'number of wallets, including those added by hand' }),
  added: z.int().meta({ description: 'number of wallets that were new in the last refresh' }),
  manual_only: z.int().meta({ description: 'number of wallets added by hand that are not on the list' }),
  last_status: z.string().meta({ description: 'ok, or why the current list was kept' }),
  stale: z.boolean().meta({ description: 'true: not refreshed for 48 hours' }),
})

const Sanction = namedObject('Sanction', {
  wallet: Address,
  listed: z.boolean().meta({ description: 'on the list' }),
  manual: z.boolean().meta({ description: 'added by hand' }),
  reason: z.string().nullable().meta({ description: 'why the wallet was added by hand' }),
  since: Time,
})

export const sanctionsApi = {
  listSanctions: adminEndpoint({
    path: '/dashboard/api/admin/sdn',
    query: z.strictObject({
      ...pageQuery,
      wallet: Address.optional().meta({ description: 'only this wallet' }),
      manual: z.enum(['true']).optional().meta({ description: 'only wallets that were added by hand' }),
    }),
    reply: namedJson('Sanctions', { wallets: z.array(Sanction), ...paged, sdn: Sdn }),
    summary: 'sanctioned wallets',
  }),

  addSanction: adminEndpoint({
    path: '/dashboard/api/admin/sdn',
    body: jsonBody({ wallet: Address, reason: z.string().trim().min(1).max(MAX_TEXT_CHARS) }),
    reply: json(Sanction.extend({ changed: z.boolean() }).meta({ id: 'SanctionChange' })),
    summary: 'add a wallet by hand',
  }),

  removeSanction: adminEndpoint({
    method: 'DELETE',
    path: '/dashboard/api/admin/sdn/:wallet',
    reply: namedJson('SanctionRemoval', {
      wallet: Address,
      sanctioned: z.boolean().meta({ description: 'true: still sanctioned' }),
    }),
    summary: 'remove a wallet added by hand',
  }),
}
