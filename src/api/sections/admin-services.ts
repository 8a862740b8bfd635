import { z } from 'zod'
import { namedObject, Time } from '../../core/codecs.ts'
import { SOLD_DAYS } from '../../core/limits.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, json } from '../endpoint/define.ts'
import { serviceFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { Listing } from './services.ts'

/** Sales of a listing, and last response of its endpoint. */
export const Selling = namedObject('Selling', {
  sold: z.int().meta({ description: `jobs bought in the last ${SOLD_DAYS} business days, including today` }),
  by_day: z.array(z.int()).meta({ description: 'number of the jobs in `sold` per day, oldest first' }),
  refunded: z.int().meta({ description: 'number of the jobs in `sold` that were fully refunded' }),
  last_call: z
    .strictObject({
      at: Time,
      status: z.int().nullable().meta({ description: 'HTTP status; null without a response' }),
      ms: z.int(),
      failures: z.int().meta({ description: 'consecutive failed attempts, among those searched' }),
    })
    .nullable()
    .meta({ description: 'latest delivery attempt; null before the first' }),
})

export const AdminListing = Listing.extend({ selling: Selling }).meta({ id: 'AdminListing' })

export const catalogAdminApi = {
  listAllServices: adminEndpoint({
    path: '/dashboard/api/admin/services',
    query: z.strictObject({
      status: z
        .enum(['active', 'inactive'])
        .optional()
        .meta({ description: 'only with this status (default: active)' }),
      ...listQuery(serviceFields),
      ...pageQuery,
    }),
    reply: json({
      services: z.array(AdminListing).meta({ description: 'newest listing first' }),
      ...paged,
      ...searched,
    }),
    summary: 'all listings, with filter and sort by any field',
  }),
}
