import type { Handlers } from '../handler.ts'
import { faucet, getBackup, getLogs, getMetrics, streamEvents } from './admin.ts'
import { getClock, moveClock } from './admin-clock.ts'
import { listCrons, pauseCron, resumeCron, runCron } from './admin-crons.ts'
import { getJobBundle, listAllJobs, resolveJob, withdrawJob } from './admin-jobs.ts'
import { setNamedService } from './admin-named-services.ts'
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
import { awardPosting, createBid, listBids, withdrawBid } from './bids.ts'
import { discover } from './discover.ts'
import { getLlmsText, getManifest, listResources, searchResources } from './discovery.ts'
import { getDocs, getHome } from './docs.ts'
import { getEarnings } from './earnings.ts'
import { readEvents } from './events.ts'
import { getExport } from './export.ts'
import { disputeJob, updateJob, verifyJob } from './job-actions.ts'
import { getJob, getJobMessages, listJobs, postJobMessage } from './jobs.ts'
import { createService, deleteService, updateService } from './listings.ts'
import { adjustBalance, getAudit, getHolds, getPayouts } from './money.ts'
import { acceptPrice, inquire, proposePrice } from './negotiation.ts'
import {
  getDirectory,
  getParticipant,
  onboardProvider,
  register,
  rotateKey,
  updateParticipant,
} from './participants.ts'
import { createPlan, deletePlan, getPlan, listPlans, maintenancePlan, subscribe, updatePlan } from './plans.ts'
import { getHealth, getOpenapi } from './platform.ts'
import {
  cancelPosting,
  createPosting,
  endPostingNotifications,
  getPosting,
  getPostingNotifications,
  listPostings,
  setPostingNotifications,
} from './postings.ts'
import { downloadProduct, listPurchases, purchaseProduct } from './product-sales.ts'
import { createProduct, deleteProduct, getProduct, listProducts, updateProduct } from './products.ts'
import { getIdentityFile, getProfile, linkIdentity } from './profiles.ts'
import { contentWrite, designUpdate, purchaseService, securityPatch, seoOptimize, siteAudit } from './purchases.ts'
import {
  getReferralCode,
  getReferralEarnings,
  getReferralProgram,
  listReferrals,
  withdrawReferrals,
} from './referrals.ts'
import { getEvidence, getFeedbackFile, getOnchainReputation, getReputation, getReputations } from './reputation.ts'
import { addSanction, listSanctions, removeSanction } from './sdn.ts'
import { getCatalog, getService } from './services.ts'
import { getWatching, recordEvent } from './stats.ts'
import {
  cancelSubscription,
  getSubscription,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
} from './subscriptions.ts'
import { acceptTerms, getTerms } from './terms.ts'
import { declineThread, disputeThread, updateThread, verifyThread } from './thread-actions.ts'
import { downloadThreadFile, uploadThreadFile } from './thread-files.ts'
import { getThread, listThreads, postThreadMessage } from './threads.ts'
import { openTrace, recordTrace } from './traces.ts'
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
}
