import { z } from 'zod'
import { postingStatuses } from '../../model/words.ts'
import { paged, pageQuery, QueryBoolean } from '../endpoint/common.ts'
import { adminEndpoint, json } from '../endpoint/define.ts'
import { planFields, postingFields, productFields, subscriptionFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { Plan, Subscription } from './plans.ts'
import { Posting } from './postings.ts'
import { Product } from './products.ts'

const page = { ...paged, ...searched }

const MarketSubscription = Subscription.extend({ subscriber_name: z.string(), provider_name: z.string() }).meta({
  id: 'MarketSubscription',
})

const MarketPosting = Posting.extend({ poster_name: z.string() }).meta({ id: 'MarketPosting' })

/** The operator's lists of plans, subscriptions, requests for work, and products. */
export const marketAdminApi = {
  listAllPlans: adminEndpoint({
    path: '/dashboard/api/admin/plans',
    query: z.strictObject({
      status: z
        .enum(['active', 'inactive'])
        .optional()
        .meta({ description: 'only with this status (default: active)' }),
      ...listQuery(planFields),
      ...pageQuery,
    }),
    reply: json({ plans: z.array(Plan).meta({ description: 'the newest first' }), ...page }),
    summary: 'all plans, with filter and sort by any field',
  }),

  listAllSubscriptions: adminEndpoint({
    path: '/dashboard/api/admin/subscriptions',
    query: z.strictObject({
      ended: QueryBoolean.optional().meta({ description: 'true: only ended subscriptions (default: current ones)' }),
      ...listQuery(subscriptionFields),
      ...pageQuery,
    }),
    reply: json({ subscriptions: z.array(MarketSubscription).meta({ description: 'the newest first' }), ...page }),
    summary: 'all subscriptions, with filter and sort by any field',
  }),

  listAllPostings: adminEndpoint({
    path: '/dashboard/api/admin/postings',
    query: z.strictObject({
      status: z.enum(postingStatuses).optional().meta({ description: 'only in this state (default: open)' }),
      ...listQuery(postingFields),
      ...pageQuery,
    }),
    reply: json({ postings: z.array(MarketPosting).meta({ description: 'the newest first' }), ...page }),
    summary: 'all requests for work, also of suspended posters, with filter and sort by any field',
  }),

  listAllProducts: adminEndpoint({
    path: '/dashboard/api/admin/products',
    query: z.strictObject({ ...listQuery(productFields), ...pageQuery }),
    reply: json({
      products: z.array(Product).meta({ description: 'including drafts and withdrawn ones, newest listing first' }),
      ...page,
    }),
    summary: 'all digital products that were not deleted, with filter and sort by any field',
  }),
}
