import { z } from 'zod'
import { verificationFields } from '../../../src/api/endpoint/list-fields.ts'
import {
  vendorSignatureHeader,
  vendorTimestampHeader,
  type verificationAdminApi,
  type verificationApi,
} from '../../../src/api/sections/verification.ts'
import { AppError, existing, notFound } from '../../../src/core/error.ts'
import { checksumAddress } from '../../../src/core/hex.ts'
import { MAX_NAME_CHARS } from '../../../src/core/limits.ts'
import { compact } from '../../../src/core/record.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { factTable, type Html, html, page } from '../../endpoint/html.ts'
import { audit } from '../../events/event-log.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { hashSecret } from '../../kernel/identity.ts'
import { transition } from '../../kernel/machine.ts'
import { type ParticipantRow, participants, settings } from '../../kernel/rows.ts'
import { type SignedCallback, sandboxVendor, type VendorDecision, type VerificationVendor } from '../../ports/vendor.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { listedPage } from '../../store/searched-page.ts'
import { attemptView, emitAttempt, liveAttempt, stepAttempt } from './attempts.ts'
import { expireOverdue } from './expiry.ts'
import { attemptStatusAt, isOverdue, type Times, verificationMachine } from './machine.ts'
import { type AttemptRow, attempts } from './rows.ts'

type Shown = {
  readonly attempt: AttemptRow
  readonly participant: ParticipantRow
  readonly token: string
  readonly vendor: string
}

function consentPage({ attempt, participant, token, vendor }: Shown): Html {
  return page({
    title: 'Identity verification',
    body: html`<h1>Identity verification of ${participant.name}</h1>
<p>This agent asks you, as the human who is responsible for it, to have your identity verified by a third party.</p>
${factTable({
  participant: participant.id,
  wallet: checksumAddress(participant.wallet),
  'verified by': vendor,
  'this attempt ends': new Date(attempt.expires_at).toISOString(),
})}
<p>Your name is given to the verifier. Others see only that the participant is identity-verified.</p>
<form method="post" action="/v1/verification/consent">
<input type="hidden" name="token" value="${token}">
<p><label>Your name <input name="operator_name" required maxlength="${MAX_NAME_CHARS}" autocomplete="name"></label></p>
<p><label><input type="checkbox" name="agree" value="true" required> I am responsible for this participant and agree to the verification.</label></p>
<p><button type="submit">Agree</button></p>
</form>
<p>If you do not know this participant, close this page: nothing happens without your consent.</p>`,
  })
}

/** Page after consent, which says what happens next. It omits the consent link, because the link is used up. */
function consentedPage({ attempt, vendor }: Pick<Shown, 'attempt' | 'vendor'>): Html {
  const title = 'Your consent is recorded'
  return page({
    title,
    body: html`<h1>${title}</h1>
${factTable({
  participant: attempt.participant_id,
  'agreed as': attempt.operator_name ?? undefined,
  attempt: attempt.id,
  'verified by': vendor,
  'this attempt ends': new Date(attempt.expires_at).toISOString(),
})}
<h2>What happens next</h2>
${
  attempt.vendor_url === null
    ? html`<p>The verifier decides next, and the agent is told. Nothing is left to do here: you may close this page.</p>`
    : html`<p>The verifier needs something from you: <a href="${attempt.vendor_url}">go on there</a> before this attempt ends.</p>`
}
<p>Your link has been used and does not open again.</p>`,
  })
}

/** Lifetime of an attempt and of its token (decisions §6). */
const ATTEMPT_MS = DAY_MS
const TOKEN_BYTES = 32
const RETRY_SECONDS = 60
/** Maximum attempts read, latest first. At most one of them is open. */
const LATEST = 2

export const verificationRoutes: FreeHandlers<typeof verificationApi & typeof verificationAdminApi> = {
  startVerification: async (_input, call) => {
    const { ctx, caller, now, wall } = call
    return commit(ctx, async (t, draw) => {
      const holder = await t.table(participants).get(caller.id)
      if (holder?.verification_tier === 'identity_verified') {
        throw new AppError('conflict', 'This participant is identity-verified already.')
      }
      const open = await liveAttempt(t, caller.id)
      const attempt = open && (await t.table(attempts).getForUpdate(open.id))
      if (attempt && !isOverdue(attempt, { now, wall })) throw oneAtATime(attempt)
      if (attempt) await stepAttempt(t, draw, { attempt, event: 'expire', by: 'system', now, wall })
      const token = draw.bytes(TOKEN_BYTES).toString('hex')
      const row = await t.table(attempts).insert({
        id: draw.id('verification'),
        participant_id: caller.id,
        status: 'pending_consent',
        live: true,
        token_hash: hashSecret(token),
        token_expires_at: wall + ATTEMPT_MS,
        operator_name: null,
        consented_at: null,
        vendor_session: null,
        vendor_url: null,
        reason: null,
        ended_at: null,
        expires_at: now + ATTEMPT_MS,
        created_at: now,
      })
      await emitAttempt(t, draw, { attempt: row, at: now })
      const consent_url = `${ctx.baseUrl()}/verification/consent/${token}`
      return { attempt_id: row.id, consent_url, expires_at: row.expires_at }
    })
  },

  getVerificationStatus: async (_input, call) => {
    const { ctx, caller, now, wall } = call
    return ctx.store.read(async (t) => {
      const holder = (await t.table(participants).get(caller.id)) ?? caller
      const { rows } = await t.table(attempts).page('own', [caller.id], { limit: LATEST })
      const isOpen = (row: AttemptRow) => row.live && !isOverdue(row, { now, wall })
      const shown = (row: AttemptRow | undefined) => (row ? attemptView(row, { now, wall }) : null)
      return {
        participant_id: caller.id,
        verification_tier: holder.verification_tier,
        attempt: shown(rows.find(isOpen)),
        last_attempt: shown(rows.find((row) => !isOpen(row))),
      }
    })
  },

  /** Requests the vendor session before using up the token, so that the token stays valid if the request fails. */
  consentToVerification: async ({ body }, call) => {
    const { ctx, now, wall } = call
    const { token, operator_name } = body
    const { id } = await ctx.store.read((t) => attemptOf(t, token, { now, wall }))
    return ctx.mutex.run(`verification:${id}`, async () => {
      await ctx.store.read((t) => attemptOf(t, token, { now, wall }))
      const session = await openSession(ctx, { attemptId: id, operatorName: operator_name })
      const row = await commit(ctx, async (t, draw) => {
        await attemptOf(t, token, { now, wall })
        const attempt = existing(await t.table(attempts).getForUpdate(id), 'The attempt')
        const change = { operator_name, consented_at: now, vendor_session: session.id, vendor_url: session.url }
        return stepAttempt(t, draw, { attempt, event: 'consent', by: 'operator', now, wall, change })
      })
      const vendor = verificationVendor.of(ctx).name
      const answer = {
        message: session.url
          ? 'Your consent is recorded. Continue at vendor_url.'
          : 'Your consent is recorded. The verifier decides next; you may close this page.',
        attempt_id: row.id,
        status: row.status,
        vendor,
        vendor_url: row.vendor_url,
        consented_at: now,
        expires_at: row.expires_at,
      }
      return { answer, page: () => consentedPage({ attempt: row, vendor }) }
    })
  },

  receiveVendorCallback: async ({ body }, call) => {
    const { ctx, signed, now, wall } = call
    const callback = {
      signature: signed.header(vendorSignatureHeader) ?? '',
      timestamp: signed.header(vendorTimestampHeader) ?? '',
      body: signed.body(),
    }
    const { reason, ...said } = body
    const decision = { ...said, ...compact({ reason }) }
    const row = await takeDecision(ctx, { callback, decision, now, wall })
    return { attempt_id: row.id, status: row.status }
  },

  /** Viewing the page does not use up the token, because mail scanners follow links. */
  getConsentPage: async (_input, { ctx, caller, now, wall }) =>
    ctx.store.read(async (t) => {
      const attempt = await attemptOf(t, caller.token, { now, wall })
      const participant = existing(await t.table(participants).get(attempt.participant_id), 'The participant')
      return consentPage({ attempt, participant, token: caller.token, vendor: verificationVendor.of(ctx).name })
    }),

  /** Expires overdue attempts first, so that the response has correct statuses. */
  listVerifications: async ({ query }, call) => {
    const { ctx, now, wall } = call
    const { status } = query
    await expireOverdue(ctx, now)
    const index = status === undefined ? { index: 'newest', prefix: [] } : { index: 'status', prefix: [status] }
    const list = { rows: attempts, ...index, fields: verificationFields, factsOf: attemptFactsIn(ctx.store) }
    const { rows, ...found } = await listedPage(ctx.store, list, { ...query, now })
    const shown = await ctx.store.read((t) =>
      Promise.all(rows.map(async (row) => ({ ...attemptView(row, { now, wall }), ...(await whoIs(t, row)) }))),
    )
    return { attempts: shown, ...found }
  },

  /** Lets the sandbox vendor apply the decision and send its normal callback. */
  decideVerification: async ({ params, body }, call) => {
    const { ctx, now, wall } = call
    const vendor = verificationVendor.of(ctx)
    if (!vendor.decide) throw new AppError('unavailable', `The ${vendor.name} vendor decides; an operator cannot.`)
    const attempt = existing(await ctx.store.table(attempts).get(params.id), 'The attempt')
    const { decision: verdict, reason } = body
    const event = verdict === 'approved' ? 'approve' : 'reject'
    transition(verificationMachine, { event, from: attemptStatusAt(attempt, { now, wall }), by: 'vendor' })
    const decision = { session_id: attempt.vendor_session ?? '', decision: verdict, reason }
    const row = await takeDecision(ctx, {
      callback: vendor.decide(decision, wall),
      decision,
      now,
      wall,
      also: (t, draw, decided) => {
        const subject = { kind: 'verification', id: decided.id }
        const detail = { decision: verdict, participant_id: decided.participant_id }
        return audit(t, draw, { act: 'verification.decide', subject, reason, changed: true, detail, by: call })
      },
    })
    return attemptView(row, { now, wall })
  },
}

function oneAtATime({ id, status, expires_at }: AttemptRow): AppError {
  return new AppError('conflict', `Attempt ${id} is ${status} until ${new Date(expires_at).toISOString()}.`, {
    extra: { attempt_id: id, attempt_status: status, expires_at: new Date(expires_at).toISOString() },
  })
}

/** The verification attempt that a token belongs to. @throws AppError 404 if it was used, has expired or is unknown */
async function attemptOf(t: ReadTx, token: string, times: Times): Promise<AttemptRow> {
  const row = (await t.table(attempts).page('token', [hashSecret(token)], { limit: 1 })).rows[0]
  if (row && attemptStatusAt(row, times) === 'pending_consent') return row
  throw new AppError('not_found', 'This link was already used, has expired or is unknown.')
}

async function openSession(ctx: Context, order: { readonly attemptId: string; readonly operatorName: string }) {
  try {
    return await verificationVendor
      .of(ctx)
      .openSession({ ...order, callbackUrl: `${ctx.baseUrl()}/v1/verification/vendor-callback` })
  } catch (error) {
    ctx.log.warn({ source: 'verification', err: String(error) }, 'the vendor did not answer')
    const message = 'The verifier does not respond; your consent was not recorded. Try the link again.'
    throw new AppError('unavailable', message, { retryAfter: RETRY_SECONDS, cause: error })
  }
}

/** Name of the participant; empty if the participant no longer exists. */
async function whoIs(t: ReadTx, { participant_id }: AttemptRow) {
  const one = await t.table(participants).get(participant_id)
  return one && { name: one.name, verification_tier: one.verification_tier }
}

const attemptFactsIn =
  (t: ReadTx) =>
  async ({ id, status, participant_id, operator_name, created_at }: AttemptRow) => ({
    id,
    status,
    participant: [(await t.table(participants).get(participant_id))?.name ?? '', participant_id],
    operator: operator_name,
    age: created_at,
  })

export const VENDOR = 'verification_vendor'
const SECRET_BYTES = 32
const Setting = z.strictObject({ callback_secret: z.string() })

export const verificationVendor = defineResource<VerificationVendor>('verification-vendor')

/** The sandbox's verification vendor. A secret of this installation signs its callbacks (decisions §6). */
export async function openVendor(parts: Pick<Context, 'store' | 'entropy'>): Promise<VerificationVendor> {
  const fresh = { callback_secret: parts.entropy(SECRET_BYTES).toString('hex') }
  const { callback_secret } = await commit(parts, async (t) => {
    const known = await t.table(settings).getForUpdate(VENDOR)
    if (known) return Setting.parse(known.value)
    await t.table(settings).put({ id: VENDOR, value: fresh })
    return fresh
  })
  return sandboxVendor(Buffer.from(callback_secret, 'hex'))
}

type Received = {
  readonly callback: SignedCallback
  readonly decision: VendorDecision
  readonly now: number
  readonly wall: number
  /** Further writes in the decision's transaction. */
  readonly also?: (t: Tx, draw: Draw, attempt: AttemptRow) => Promise<void>
}

/**
 * Applies a vendor decision. Repeating it changes nothing, so callbacks can be retried and replayed.
 * @throws AppError 401 for an invalid or old signature, 404, 409 invalid_transition
 */
async function takeDecision(ctx: Context, received: Received): Promise<AttemptRow> {
  const { callback, decision, now, wall, also } = received
  if (!verificationVendor.of(ctx).isGenuine(callback, wall)) {
    throw new AppError('unauthorized', 'The callback has no valid vendor signature, or its timestamp is not current.')
  }
  return commit(ctx, async (t, draw) => {
    const found = (await t.table(attempts).page('session', [decision.session_id], { limit: 1 })).rows[0]
    const attempt = found && (await t.table(attempts).getForUpdate(found.id))
    if (!attempt) throw notFound('The session')
    if (attemptStatusAt(attempt, { now, wall }) === decision.decision && also === undefined) return attempt
    const event = decision.decision === 'approved' ? 'approve' : 'reject'
    const change = { reason: decision.reason ?? null }
    const decided = await stepAttempt(t, draw, { attempt, event, by: 'vendor', now, wall, change })
    await also?.(t, draw, decided)
    return decided
  })
}
