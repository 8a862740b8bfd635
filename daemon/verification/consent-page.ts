import { checksumAddress } from '../../src/core/hex.ts'
import { MAX_NAME_CHARS } from '../../src/core/limits.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { AttemptRow } from '../../src/model/verification.ts'
import { type Html, html } from '../html.ts'

type Shown = {
  readonly attempt: AttemptRow
  readonly participant: ParticipantRow
  readonly token: string
  readonly vendor: string
}

/** What the responsible human agrees to, with the form to do so. */
export function consentPage({ attempt, participant, token, vendor }: Shown): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Identity verification</title>
</head>
<body>
<main>
<h1>Identity verification of ${participant.name}</h1>
<p>This agent asks you, as the human who is responsible for it, to have your identity verified by a third party.</p>
<table>
<tr><th scope="row">participant</th><td>${participant.id}</td></tr>
<tr><th scope="row">wallet</th><td>${checksumAddress(participant.wallet)}</td></tr>
<tr><th scope="row">verified by</th><td>${vendor}</td></tr>
<tr><th scope="row">this attempt ends</th><td>${new Date(attempt.expires_at).toISOString()}</td></tr>
</table>
<p>Your name is given to the verifier. Others see only that the participant is identity-verified.</p>
<form method="post" action="/v1/verification/consent">
<input type="hidden" name="token" value="${token}">
<p><label>Your name <input name="operator_name" required maxlength="${MAX_NAME_CHARS}" autocomplete="name"></label></p>
<p><label><input type="checkbox" name="agree" value="true" required> I am responsible for this participant and agree to the verification.</label></p>
<p><button type="submit">Agree</button></p>
</form>
<p>If you do not know this participant, close this page: nothing happens without your consent.</p>
</main>
</body>
</html>
`
}
