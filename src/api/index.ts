import type { z } from 'zod'
import { keysOf } from '../core/record.ts'
import type { Endpoint, FeedReply, JsonOrPageReply, JsonReply } from './endpoint/define.ts'
import { operatorApi } from './sections/admin.ts'
import { clockApi, cronsApi } from './sections/admin-crons.ts'
import { figuresApi } from './sections/admin-figures.ts'
import { rulingsApi } from './sections/admin-jobs.ts'
import { marketAdminApi } from './sections/admin-market.ts'
import { adminLogApi, featuresApi, platformSwitchesApi } from './sections/admin-platform.ts'
import { requestsApi } from './sections/admin-requests.ts'
import { catalogAdminApi } from './sections/admin-services.ts'
import { houseThreadsApi } from './sections/admin-threads.ts'
import { attentionApi } from './sections/attention.ts'
import { balanceApi } from './sections/balance.ts'
import { booksAdminApi, booksApi } from './sections/books.ts'
import { chainApi } from './sections/chain.ts'
import { discoveryApi } from './sections/discovery.ts'
import { docsApi } from './sections/docs.ts'
import { earningsApi, payeesApi } from './sections/earnings.ts'
import { enginesApi } from './sections/engines.ts'
import { eventsApi } from './sections/events.ts'
import { exportApi } from './sections/export.ts'
import { facilitatorAdminApi, facilitatorApi } from './sections/facilitator.ts'
import { jobActionsApi } from './sections/job-actions.ts'
import { jobsApi } from './sections/jobs.ts'
import { auditApi } from './sections/money.ts'
import { maintenancePlanApi, namedServiceAdminApi, namedServicesApi } from './sections/named-services.ts'
import { inquiryApi, negotiationApi } from './sections/negotiation.ts'
import { participantAdminApi, participantsApi, registrationApi } from './sections/participants.ts'
import { plansApi, subscriptionsApi } from './sections/plans.ts'
import { healthApi } from './sections/platform.ts'
import { bidWritesApi, postingNotificationsApi, postingWritesApi } from './sections/posting-writes.ts'
import { bidsApi, postingsApi } from './sections/postings.ts'
import { productSalesApi, productsApi } from './sections/products.ts'
import { identityLinkApi, profilesApi } from './sections/profiles.ts'
import { referralsApi } from './sections/referrals.ts'
import { reputationApi } from './sections/reputation.ts'
import { sanctionsApi } from './sections/sdn.ts'
import { catalogApi, discoverApi, listingsApi, purchaseApi, servicesApi } from './sections/services.ts'
import { statsApi } from './sections/stats.ts'
import { termsApi } from './sections/terms.ts'
import { testMoneyApi } from './sections/test-money.ts'
import { threadActionsApi } from './sections/thread-actions.ts'
import { threadFilesApi } from './sections/thread-files.ts'
import { threadsApi } from './sections/threads.ts'
import { tracesApi } from './sections/trace.ts'
import { verificationAdminApi, verificationApi } from './sections/verification.ts'
import { deliveriesApi, serviceTestApi, webhookAdminApi } from './sections/webhooks.ts'

/**
 * The contract: all endpoints in order, by section. Literal paths precede parameters that would match them. Server,
 * health, description, client and tests derive from it.
 */
export const api = {
  ...catalogApi,
  ...catalogAdminApi,
  ...marketAdminApi,
  ...namedServicesApi,
  ...maintenancePlanApi,
  ...servicesApi,
  ...discoverApi,
  ...listingsApi,
  ...purchaseApi,
  ...inquiryApi,
  ...serviceTestApi,
  ...registrationApi,
  ...profilesApi,
  ...participantsApi,
  ...identityLinkApi,
  ...verificationApi,
  ...termsApi,
  ...threadsApi,
  ...threadFilesApi,
  ...negotiationApi,
  ...threadActionsApi,
  ...jobsApi,
  ...jobActionsApi,
  ...plansApi,
  ...subscriptionsApi,
  ...postingsApi,
  ...bidsApi,
  ...postingWritesApi,
  ...bidWritesApi,
  ...postingNotificationsApi,
  ...productsApi,
  ...productSalesApi,
  ...balanceApi,
  ...testMoneyApi,
  ...eventsApi,
  ...exportApi,
  ...booksApi,
  ...reputationApi,
  ...earningsApi,
  ...payeesApi,
  ...referralsApi,
  ...deliveriesApi,
  ...healthApi,
  ...platformSwitchesApi,
  ...cronsApi,
  ...featuresApi,
  ...namedServiceAdminApi,
  ...adminLogApi,
  ...clockApi,
  ...rulingsApi,
  ...houseThreadsApi,
  ...auditApi,
  ...sanctionsApi,
  ...webhookAdminApi,
  ...attentionApi,
  ...chainApi,
  ...enginesApi,
  ...requestsApi,
  ...figuresApi,
  ...operatorApi,
  ...participantAdminApi,
  ...booksAdminApi,
  ...discoveryApi,
  ...docsApi,
  ...tracesApi,
  ...statsApi,
  ...verificationAdminApi,
  ...facilitatorApi,
  ...facilitatorAdminApi,
} as const satisfies Record<string, Endpoint>

export type Api = typeof api
export type EndpointName = keyof Api

type Reply<K extends EndpointName> = Api[K]['reply']

type WireAnswers = {
  [K in EndpointName]: Reply<K> extends JsonReply<infer S> | JsonOrPageReply<infer S> | FeedReply<infer S>
    ? z.input<S>
    : never
}

/**
 * Response of an endpoint in wire form: money is text. While `K` is not inferred yet it is any object: the type checker
 * would compare what is written with the responses of all endpoints, at every call.
 */
export type WireAnswer<K extends string> = K extends EndpointName
  ? WireAnswers[K]
  : { readonly [member: string]: unknown }

export type WireEvent<K extends EndpointName> =
  Reply<K> extends { kind: 'events'; schema: infer S extends z.ZodType } ? z.input<S> : never

export const endpointNames = keysOf(api)
