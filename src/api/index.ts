import { faucet, getBackup, getLogs, getMetrics, streamEvents } from './admin.ts'
import { getClock, moveClock } from './admin-clock.ts'
import { listCrons, pauseCron, resumeCron, runCron } from './admin-crons.ts'
import { getJobBundle, listAllJobs, resolveJob, withdrawJob } from './admin-jobs.ts'
import { listParticipants, setParticipant } from './admin-participants.ts'
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
} from './admin-platform.ts'
import { answerForHouse, listAllThreads, readAnyThread } from './admin-threads.ts'
import { deposit, getBalance, getBalanceHistory, withdrawBalance } from './balance.ts'
import { getLlmsText, getManifest, listResources, searchResources } from './discovery.ts'
import { getDocs, getHome } from './docs.ts'
import { getEarnings } from './earnings.ts'
import type { Endpoint } from './endpoint.ts'
import { readEvents } from './events.ts'
import { getExport } from './export.ts'
import { disputeJob, updateJob, verifyJob } from './job-actions.ts'
import { getJob, getJobMessages, listJobs, postJobMessage } from './jobs.ts'
import { adjustBalance, getAudit, getHolds, getPayouts } from './money.ts'
import {
  contentWrite,
  designUpdate,
  maintenancePlan,
  securityPatch,
  seoOptimize,
  setNamedService,
  siteAudit,
} from './named-services.ts'
import { acceptPrice, inquire, proposePrice } from './negotiation.ts'
import {
  getDirectory,
  getParticipant,
  onboardProvider,
  register,
  rotateKey,
  updateParticipant,
} from './participants.ts'
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
} from './plans.ts'
import { getHealth, getOpenapi } from './platform.ts'
import {
  awardPosting,
  cancelPosting,
  createBid,
  createPosting,
  endPostingNotifications,
  setPostingNotifications,
  withdrawBid,
} from './posting-writes.ts'
import { getPosting, getPostingNotifications, listBids, listPostings } from './postings.ts'
import {
  createProduct,
  deleteProduct,
  downloadProduct,
  getProduct,
  listProducts,
  listPurchases,
  purchaseProduct,
  updateProduct,
} from './products.ts'
import { getIdentityFile, getProfile, linkIdentity } from './profiles.ts'
import {
  getReferralCode,
  getReferralEarnings,
  getReferralProgram,
  listReferrals,
  withdrawReferrals,
} from './referrals.ts'
import { getEvidence, getFeedbackFile, getOnchainReputation, getReputation, getReputations } from './reputation.ts'
import { addSanction, listSanctions, removeSanction } from './sdn.ts'
import {
  createService,
  deleteService,
  discover,
  getCatalog,
  getService,
  purchaseService,
  updateService,
} from './services.ts'
import { getWatching, recordEvent } from './stats.ts'
import { acceptTerms, getTerms } from './terms.ts'
import { declineThread, disputeThread, updateThread, verifyThread } from './thread-actions.ts'
import { downloadThreadFile, uploadThreadFile } from './thread-files.ts'
import { getThread, listThreads, postThreadMessage } from './threads.ts'
import { openTrace, recordTrace } from './trace.ts'
import {
  consentToVerification,
  decideVerification,
  getConsentPage,
  getVerificationStatus,
  listVerifications,
  receiveVendorCallback,
  startVerification,
} from './verification.ts'
import { getWebhooks, listDeliveries, replayDelivery, testService } from './webhooks.ts'

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
export type RowName = keyof Api

export const rowNames = Object.keys(api) as RowName[]
