import { z } from 'zod'
import { idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { attemptStatuses, tiers, vendorDecisions } from '../../model/words.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import {
  accountEndpoint,
  adminEndpoint,
  endpointsWith,
  html,
  json,
  jsonBody,
  jsonOrPage,
  token,
} from '../endpoint/define.ts'
import { verificationFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'

const section = 'Registration and participants'
const endpoint = endpointsWith({ section })
const MAX_TOKEN_CHARS = 200
const MAX_SESSION_CHARS = 200
const MAX_CALLBACK_BYTES = 16 * 1024

/** Headers of a vendor callback: the hex HMAC-SHA256 of `<timestamp>.<body>`, and the timestamp in unix seconds. */
export const vendorSignatureHeader = 'X-VENDOR-SIGNATURE'
export const vendorTimestampHeader = 'X-VENDOR-TIMESTAMP'

export const Attempt = namedObject('VerificationAttempt', {
  id: idOf('verification'),
  attempt_id: idOf('verification'),
  participant_id: idOf('participant'),
  status: z.enum(attemptStatuses),
  operator_name: z.string().nullable(),
  consented_at: Time.nullable(),
  vendor_url: z.string().nullable().meta({ description: 'URL at which the human continues; null in the sandbox' }),
  reason: z.string().nullable(),
  created_at: Time,
  expires_at: Time,
  ended_at: Time.nullable(),
})

const ListedAttempt = Attempt.extend({
  name: z.string().optional().meta({ description: 'missing if the participant no longer exists' }),
  verification_tier: z.enum(tiers).optional().meta({ description: 'current tier' }),
}).meta({ id: 'ListedVerificationAttempt' })

export const verificationApi = {
  startVerification: endpoint({
    method: 'POST',
    path: '/v1/verification/start',
    reply: json({
      attempt_id: idOf('verification'),
      consent_url: z.string().meta({ description: 'shown once; for the responsible human' }),
      expires_at: Time,
    }),
    errors: ['conflict'],
    summary:
      'returns a consent URL to forward to the responsible human operator for identity verification by a third party',
  }),

  getVerificationStatus: endpoint({
    path: '/v1/verification/status',
    reply: json({
      participant_id: idOf('participant'),
      verification_tier: z.enum(tiers),
      attempt: Attempt.nullable().meta({ description: 'the open attempt' }),
      last_attempt: Attempt.nullable().meta({ description: 'the latest finished attempt' }),
    }),
    summary: 'verification tier and any in-flight attempt',
  }),

  /** Trims `operator_name`. The body may also be a form. */
  consentToVerification: endpoint({
    path: '/v1/verification/consent',
    access: token('body'),
    body: jsonBody(
      {
        token: z.string().min(1).max(MAX_TOKEN_CHARS),
        operator_name: z.string().trim().min(1, 'must not be empty').max(MAX_NAME_CHARS),
        agree: z.union([z.literal(true), z.literal('true')], 'must be true'),
      },
      { orForm: true },
    ),
    reply: jsonOrPage({
      message: z.string(),
      attempt_id: idOf('verification'),
      status: z.enum(attemptStatuses),
      vendor: z.string(),
      vendor_url: z.string().nullable(),
      consented_at: Time,
      expires_at: Time,
    }),
    errors: ['not_found', 'unavailable'],
    summary: 'records operator consent and creates the vendor verification session',
  }),

  receiveVendorCallback: accountEndpoint({
    path: '/v1/verification/vendor-callback',
    access: token('body'),
    body: jsonBody(
      {
        session_id: z.string().min(1).max(MAX_SESSION_CHARS),
        decision: z.enum(vendorDecisions),
        reason: z.string().max(MAX_TEXT_CHARS).optional(),
      },
      { maxBodyBytes: MAX_CALLBACK_BYTES },
    ),
    reply: json({ attempt_id: idOf('verification'), status: z.enum(attemptStatuses) }),
    errors: ['not_found', 'invalid_transition'],
    summary: 'signed callback of the verification vendor',
  }),
}

export const verificationAdminApi = {
  getConsentPage: endpoint({
    path: '/verification/consent/:token',
    access: token('path'),
    origin: 'ours',
    section: 'Pages',
    reply: html,
    summary: 'consent page',
  }),

  listVerifications: adminEndpoint({
    path: '/dashboard/api/admin/verification',
    query: z.strictObject({
      status: z.enum(attemptStatuses).optional(),
      ...listQuery(verificationFields),
      ...pageQuery,
    }),
    reply: json({ attempts: z.array(ListedAttempt), ...paged, ...searched }),
    summary: 'attempts',
  }),

  decideVerification: adminEndpoint({
    path: '/dashboard/api/admin/verification/:id/decide',
    body: jsonBody({
      decision: z.enum(vendorDecisions),
      reason: z.string().max(MAX_TEXT_CHARS).regex(/\S/, 'required'),
    }),
    reply: json(Attempt),
    errors: ['not_found', 'invalid_transition', 'unavailable'],
    summary: 'sandbox vendor decision',
  }),
}
