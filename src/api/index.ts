import type { Endpoint } from './endpoint/define.ts'
import { faucet, getBackup, getLogs, getMetrics, streamEvents } from './sections/admin.ts'
import { getClock, moveClock } from './sections/admin-clock.ts'
import { listCrons, pauseCron, resumeCron, runCron } from './sections/admin-crons.ts'
import { getJobBundle, listAllJobs, resolveJob, withdrawJob } from './sections/admin-jobs.ts'
import { listParticipants, setParticipant } from './sections/admin-participants.ts'
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
} from './sections/admin-platform.ts'
import { answerForHouse, listAllThreads, readAnyThread } from './sections/admin-threads.ts'
import { deposit, getBalance, getBalanceHistory, withdrawBalance } from './sections/balance.ts'
import { getLlmsText, getManifest, listResources, searchResources } from './sections/discovery.ts'
import { getDocs, getHome } from './sections/docs.ts'
import { getEarnings } from './sections/earnings.ts'
import { readEvents } from './sections/events.ts'
import { getExport } from './sections/export.ts'
import { disputeJob, updateJob, verifyJob } from './sections/job-actions.ts'
import { getJob, getJobMessages, listJobs, postJobMessage } from './sections/jobs.ts'
import { adjustBalance, getAudit, getHolds, getPayouts } from './sections/money.ts'
import {
  contentWrite,
  designUpdate,
  maintenancePlan,
  securityPatch,
  seoOptimize,
  setNamedService,
  siteAudit,
} from './sections/named-services.ts'
import { acceptPrice, inquire, proposePrice } from './sections/negotiation.ts'
import {
  getDirectory,
  getParticipant,
  onboardProvider,
  register,
  rotateKey,
  updateParticipant,
} from './sections/participants.ts'
import {
  cancelSubscription,
  createPlan,
  deletePlan,
  getPlan,
  getSubscription,
  listPlans,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
  subscribe,
  updatePlan,
} from './sections/plans.ts'
import { getHealth, getOpenapi } from './sections/platform.ts'
import {
  awardPosting,
  cancelPosting,
  createBid,
  createPosting,
  endPostingNotifications,
  setPostingNotifications,
  withdrawBid,
} from './sections/posting-writes.ts'
import { getPosting, getPostingNotifications, listBids, listPostings } from './sections/postings.ts'
import {
  createProduct,
  deleteProduct,
  downloadProduct,
  getProduct,
  listProducts,
  listPurchases,
  purchaseProduct,
  updateProduct,
} from './sections/products.ts'
import { getIdentityFile, getProfile, linkIdentity } from './sections/profiles.ts'
import {
  getReferralCode,
  getReferralEarnings,
  getReferralProgram,
  listReferrals,
  withdrawReferrals,
} from './sections/referrals.ts'
import {
  getEvidence,
  getFeedbackFile,
  getOnchainReputation,
  getReputation,
  getReputations,
} from './sections/reputation.ts'
import { addSanction, listSanctions, removeSanction } from './sections/sdn.ts'
import {
  createService,
  deleteService,
  discover,
  getCatalog,
  getService,
  purchaseService,
  updateService,
} from './sections/services.ts'
import { getWatching, recordEvent } from './sections/stats.ts'
import { acceptTerms, getTerms } from './sections/terms.ts'
import { declineThread, disputeThread, updateThread, verifyThread } from './sections/thread-actions.ts'
import { downloadThreadFile, uploadThreadFile } from './sections/thread-files.ts'
import { getThread, listThreads, postThreadMessage } from './sections/threads.ts'
import { openTrace, recordTrace } from './sections/trace.ts'
import {
  consentToVerification,
  decideVerification,
  getConsentPage,
  getVerificationStatus,
  listVerifications,
  receiveVendorCallback,
  startVerification,
} from './sections/verification.ts'
import { getWebhooks, listDeliveries, replayDelivery, testService } from './sections/webhooks.ts'

/**
 * The contract: every row in one flat, ordered record. Literal paths stand before the
 * parameters that would shadow them. Server, health, description, client and tests fold over it.
 */
export const api = {
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
} as const satisfies Record<string, Endpoint>

export type Api = typeof api
export type EndpointName = keyof Api

export const endpointNames = Object.keys(api) as EndpointName[]
