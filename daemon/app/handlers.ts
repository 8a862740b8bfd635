import type { Endpoint, PaidEndpoint, UploadEndpoint } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { getClock, moveClock } from '../crons/clock-routes.ts'
import { listCrons, pauseCron, resumeCron, runCron } from '../crons/routes.ts'
import type { FreeHandler, UploadHandler } from '../endpoint/handler.ts'
import { readEvents } from '../events/routes.ts'
import { getAttention } from '../features/attention/routes.ts'
import { adjustBalance, getAudit, getHolds, getPayouts } from '../features/audit/routes.ts'
import { createService, deleteService, updateService } from '../features/catalog/listing-routes.ts'
import { getCatalog, getService } from '../features/catalog/routes.ts'
import { testService } from '../features/catalog/test-endpoint.ts'
import { discover } from '../features/discovery/discover.ts'
import { getDocs, getHome } from '../features/discovery/docs.ts'
import { getLlmsText, getManifest, listResources, searchResources } from '../features/discovery/routes.ts'
import { getExport } from '../features/export/routes.ts'
import { disputeJob, updateJob, verifyJob } from '../features/jobs/action-routes.ts'
import { getJob, getJobMessages, listJobs, postJobMessage } from '../features/jobs/routes.ts'
import { declineThread, disputeThread, updateThread, verifyThread } from '../features/negotiation/action-routes.ts'
import { downloadThreadFile, uploadThreadFile } from '../features/negotiation/file-routes.ts'
import { acceptPrice, inquire, proposePrice } from '../features/negotiation/routes.ts'
import { getThread, listThreads, postThreadMessage } from '../features/negotiation/thread-routes.ts'
import { getHealth, getOpenapi } from '../features/operator/health.ts'
import { getJobBundle, listAllJobs, resolveJob, withdrawJob } from '../features/operator/job-routes.ts'
import {
  getAdminLog,
  getEscrowPaused,
  getFeatures,
  getPlatformStatus,
  pauseEscrow,
  pausePlatform,
  setFeatures,
  unpauseEscrow,
  unpausePlatform,
} from '../features/operator/platform-routes.ts'
import { faucet, getBackup, getLogs, getMetrics, streamEvents } from '../features/operator/routes.ts'
import { answerForHouse, listAllThreads, readAnyThread } from '../features/operator/thread-routes.ts'
import { listParticipants, setParticipant } from '../features/participants/admin-routes.ts'
import { getIdentityFile, getProfile, linkIdentity } from '../features/participants/profile-routes.ts'
import {
  getDirectory,
  getParticipant,
  onboardProvider,
  register,
  rotateKey,
  updateParticipant,
} from '../features/participants/routes.ts'
import { acceptTerms, getTerms } from '../features/participants/terms-routes.ts'
import { deposit, getBalance, getBalanceHistory, withdrawBalance } from '../features/payments/balance-routes.ts'
import type { PaidHandler } from '../features/payments/seller.ts'
import { awardPosting, createBid, listBids, withdrawBid } from '../features/postings/bid-routes.ts'
import {
  cancelPosting,
  createPosting,
  endPostingNotifications,
  getPosting,
  getPostingNotifications,
  listPostings,
  setPostingNotifications,
} from '../features/postings/routes.ts'
import { createProduct, deleteProduct, getProduct, listProducts, updateProduct } from '../features/products/routes.ts'
import { downloadProduct, listPurchases, purchaseProduct } from '../features/products/sale-routes.ts'
import {
  getReferralCode,
  getReferralEarnings,
  getReferralProgram,
  listReferrals,
  withdrawReferrals,
} from '../features/referrals/routes.ts'
import {
  getEvidence,
  getFeedbackFile,
  getOnchainReputation,
  getReputation,
  getReputations,
} from '../features/reputation/routes.ts'
import { getEarnings } from '../features/sales/earnings.ts'
import { setNamedService } from '../features/sales/named-routes.ts'
import {
  contentWrite,
  designUpdate,
  purchaseService,
  securityPatch,
  seoOptimize,
  siteAudit,
} from '../features/sales/routes.ts'
import { addSanction, listSanctions, removeSanction } from '../features/sanctions/routes.ts'
import { getWatching, recordEvent } from '../features/stats/routes.ts'
import {
  createPlan,
  deletePlan,
  getPlan,
  listPlans,
  maintenancePlan,
  subscribe,
  updatePlan,
} from '../features/subscriptions/plan-routes.ts'
import {
  cancelSubscription,
  getSubscription,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
} from '../features/subscriptions/routes.ts'
import { openFaucet } from '../features/test-money/routes.ts'
import { openTrace, recordTrace } from '../features/traces/routes.ts'
import {
  consentToVerification,
  decideVerification,
  getConsentPage,
  getVerificationStatus,
  listVerifications,
  receiveVendorCallback,
  startVerification,
} from '../features/verification/routes.ts'
import { getWebhooks, listDeliveries, replayDelivery, replayForOperator } from '../features/webhooks/routes.ts'

/** A handler for every row of the contract; the type is total, so a missing one does not compile. */
export const handlers: Handlers = {
  getCatalog,
  siteAudit,
  securityPatch,
  contentWrite,
  seoOptimize,
  designUpdate,
  maintenancePlan,
  getService,
  discover,
  createService,
  updateService,
  deleteService,
  purchaseService,
  inquire,
  testService,
  register,
  rotateKey,
  onboardProvider,
  getDirectory,
  getProfile,
  getIdentityFile,
  getParticipant,
  updateParticipant,
  linkIdentity,
  startVerification,
  getVerificationStatus,
  consentToVerification,
  receiveVendorCallback,
  getTerms,
  acceptTerms,
  listThreads,
  getThread,
  postThreadMessage,
  uploadThreadFile,
  downloadThreadFile,
  proposePrice,
  acceptPrice,
  declineThread,
  updateThread,
  verifyThread,
  disputeThread,
  getJob,
  listJobs,
  getJobMessages,
  postJobMessage,
  verifyJob,
  disputeJob,
  updateJob,
  listPlans,
  createPlan,
  getPlan,
  updatePlan,
  deletePlan,
  subscribe,
  listSubscriptions,
  getSubscription,
  cancelSubscription,
  pauseSubscription,
  resumeSubscription,
  listPostings,
  getPostingNotifications,
  getPosting,
  listBids,
  createPosting,
  cancelPosting,
  createBid,
  withdrawBid,
  awardPosting,
  setPostingNotifications,
  endPostingNotifications,
  listProducts,
  createProduct,
  getProduct,
  updateProduct,
  deleteProduct,
  purchaseProduct,
  downloadProduct,
  listPurchases,
  getBalance,
  getBalanceHistory,
  deposit,
  withdrawBalance,
  openFaucet,
  readEvents,
  getExport,
  getReputations,
  getOnchainReputation,
  getFeedbackFile,
  getEvidence,
  getReputation,
  getEarnings,
  getReferralProgram,
  getReferralCode,
  listReferrals,
  getReferralEarnings,
  withdrawReferrals,
  listDeliveries,
  replayDelivery,
  getHealth,
  getOpenapi,
  getPlatformStatus,
  pausePlatform,
  unpausePlatform,
  getEscrowPaused,
  pauseEscrow,
  unpauseEscrow,
  listCrons,
  runCron,
  pauseCron,
  resumeCron,
  getFeatures,
  setFeatures,
  setNamedService,
  getAdminLog,
  getClock,
  moveClock,
  listAllJobs,
  getJobBundle,
  resolveJob,
  withdrawJob,
  listAllThreads,
  readAnyThread,
  answerForHouse,
  getHolds,
  getAudit,
  getPayouts,
  adjustBalance,
  listSanctions,
  addSanction,
  removeSanction,
  getWebhooks,
  replayForOperator,
  getAttention,
  faucet,
  streamEvents,
  getLogs,
  getMetrics,
  getBackup,
  listParticipants,
  setParticipant,
  listResources,
  searchResources,
  getManifest,
  getLlmsText,
  getDocs,
  getHome,
  recordTrace,
  openTrace,
  recordEvent,
  getWatching,
  getConsentPage,
  listVerifications,
  decideVerification,
}

export type HandlerOf<E extends Endpoint> = E extends PaidEndpoint
  ? PaidHandler<E>
  : E extends UploadEndpoint
    ? UploadHandler<E>
    : FreeHandler<E>

/** Total: a row without a handler, or a `varies` row without `quote`, does not compile. */
export type Handlers = { readonly [K in keyof Api]: HandlerOf<Api[K]> }
