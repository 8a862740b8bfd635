import { z } from 'zod'
import { Address } from '../../core/codecs.ts'
import { MAX_TEXT_CHARS } from '../../core/limits.ts'
import { pageQuery, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, jsonBody } from '../endpoint/define.ts'

const ours = { access: admin, origin: 'ours', section: 'Administration' } as const

/** `/health.compliance.sdn`; business time. */
export const Sdn = z
  .strictObject({
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
  .meta({ id: 'Sdn' })

const Sanction = z
  .strictObject({
    wallet: Address,
    listed: z.boolean().meta({ description: 'on the list' }),
    manual: z.boolean().meta({ description: 'added by hand' }),
    reason: z.string().nullable().meta({ description: 'why the wallet was added by hand' }),
    since: Time,
  })
  .meta({ id: 'Sanction' })

export const sanctionsApi = {
  listSanctions: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/sdn',
    ...ours,
    query: z.strictObject({
      ...pageQuery,
      wallet: Address.optional().meta({ description: 'only this wallet' }),
      manual: z.enum(['true']).optional().meta({ description: 'only wallets that were added by hand' }),
    }),
    reply: json(
      z
        .strictObject({ wallets: z.array(Sanction), total: z.int(), limit: z.int(), offset: z.int(), sdn: Sdn })
        .meta({ id: 'Sanctions' }),
    ),
    errors: ['invalid_request'],
    summary: 'sanctioned wallets',
  }),

  addSanction: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/sdn',
    ...ours,
    body: jsonBody(z.strictObject({ wallet: Address, reason: z.string().trim().min(1).max(MAX_TEXT_CHARS) })),
    reply: json(Sanction.extend({ changed: z.boolean() }).meta({ id: 'SanctionChange' })),
    errors: ['invalid_request'],
    summary: 'add a wallet by hand',
  }),

  removeSanction: defineEndpoint({
    method: 'DELETE',
    path: '/dashboard/api/admin/sdn/:wallet',
    ...ours,
    reply: json(
      z
        .strictObject({ wallet: Address, sanctioned: z.boolean().meta({ description: 'true: still sanctioned' }) })
        .meta({ id: 'SanctionRemoval' }),
    ),
    errors: ['invalid_request', 'not_found'],
    summary: 'remove a wallet added by hand',
  }),
}
