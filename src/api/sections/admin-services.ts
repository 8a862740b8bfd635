import { z } from 'zod'
import { pageQuery } from '../endpoint/common.ts'
import { admin, defineEndpoint, json } from '../endpoint/define.ts'
import { serviceFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { Listing } from './services.ts'

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
        .meta({ description: 'whether they are offered; active unless told' }),
      ...listQuery(serviceFields),
      ...pageQuery,
    }),
    reply: json(
      z.strictObject({
        services: z.array(Listing).meta({ description: 'the latest listed first' }),
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
