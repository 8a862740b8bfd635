import { z } from 'zod'
import { SOLD_DAYS } from '../../core/limits.ts'
import { pageQuery, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json } from '../endpoint/define.ts'
import { serviceFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { Listing } from './services.ts'

/** Sales of a listing, and last response of its endpoint. */
export const Selling = z
  .strictObject({
    sold: z.int().meta({ description: `jobs that were bought within ${SOLD_DAYS} business days, today included` }),
    by_day: z.array(z.int()).meta({ description: 'the same by day, the oldest first' }),
    refunded: z.int().meta({ description: 'of those, fully refunded jobs' }),
    last_call: z
      .strictObject({
        at: Time,
        status: z.int().nullable().meta({ description: 'of HTTP; null where there was no answer' }),
        ms: z.int(),
        failures: z.int().meta({ description: 'tries in a row that were not taken, as far as was looked' }),
      })
      .nullable()
      .meta({ description: 'the latest try at its endpoint; null before the first' }),
  })
  .meta({ id: 'Selling' })

/** A listing as the operator sees it. */
export const AdminListing = Listing.extend({
  selling: Selling.optional().meta({ description: 'older instances do not tell it' }),
}).meta({ id: 'AdminListing' })

export const catalogAdminApi = {
  listAllServices: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/services',
    access: admin,
    origin: 'ours',
    section: 'Administration',
    query: z.strictObject({
      status: z
        .enum(['active', 'inactive'])
        .optional()
        .meta({ description: 'only with this status (default: active)' }),
      ...listQuery(serviceFields),
      ...pageQuery,
    }),
    reply: json(
      z.strictObject({
        services: z.array(AdminListing).meta({ description: 'the latest listed first' }),
        total: z.int(),
        limit: z.int(),
        offset: z.int(),
        ...searched,
      }),
    ),
    errors: ['invalid_request'],
    summary: 'all listings, narrowed and sorted by any of their fields',
  }),
}
