import { checksumAddress } from '../../../src/core/hex.ts'
import { MAX_NAME_CHARS } from '../../../src/core/limits.ts'
import { type Html, html } from '../../endpoint/html.ts'
import { factTable, page } from '../../endpoint/page.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { AttemptRow } from './rows.ts'

type Shown = {
  readonly attempt: AttemptRow
  readonly participant: ParticipantRow
  readonly token: string
  readonly vendor: string
}

/** What the responsible human agrees to, with the form to do so. */
export function consentPage({ attempt, participant, token, vendor }: Shown): Html {
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

/** What the human is told who agreed: it is done, and who goes on. The link is not shown again: it is used. */
export function consentedPage({ attempt, vendor }: Pick<Shown, 'attempt' | 'vendor'>): Html {
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
<p>The link that you came by is used: it does not open again.</p>`,
  })
}
